from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agency", "0027_activity_changes"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="activityentry",
            index=models.Index(
                condition=models.Q(("workspace_uuid__isnull", False)),
                fields=["workspace_uuid", "action", "-id"],
                name="workspace_activity_by_action",
            ),
        ),
        migrations.AddIndex(
            model_name="activityentry",
            index=models.Index(
                condition=models.Q(("workspace_uuid__isnull", False)),
                fields=["workspace_uuid", "actor_kind", "-id"],
                name="workspace_activity_by_door",
            ),
        ),
        migrations.AddIndex(
            model_name="activityentry",
            index=models.Index(
                condition=models.Q(("workspace_uuid__isnull", False)),
                fields=["workspace_uuid", "actor_label", "-id"],
                name="workspace_activity_by_person",
            ),
        ),
        migrations.AddIndex(
            model_name="activityentry",
            index=models.Index(
                condition=models.Q(("workspace_uuid__isnull", False)),
                fields=["workspace_uuid", "target_id", "-id"],
                name="workspace_activity_by_object",
            ),
        ),
        migrations.AddIndex(
            model_name="activityentry",
            index=models.Index(
                condition=models.Q(("workspace_uuid__isnull", False)),
                fields=["workspace_uuid", "at"],
                name="workspace_activity_by_day",
            ),
        ),
        migrations.AddIndex(
            model_name="activityentry",
            index=models.Index(
                condition=models.Q(("actor_kind__in", ("user", "agency_key", "staff")), ("of_workspace", False)),
                fields=["workspace_uuid", "-id"],
                name="workspace_activity_by_agency",
            ),
        ),
    ]
