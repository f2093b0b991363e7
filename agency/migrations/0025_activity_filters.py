from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agency", "0024_languages_and_time_zones"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="activityentry",
            index=models.Index(fields=["agency", "actor_kind", "-id"], name="activity_by_door"),
        ),
        migrations.AddIndex(
            model_name="activityentry",
            index=models.Index(fields=["agency", "actor_label", "-id"], name="activity_by_person"),
        ),
        migrations.AddIndex(
            model_name="activityentry",
            index=models.Index(fields=["agency", "target_id", "-id"], name="activity_by_object"),
        ),
        migrations.AddIndex(
            model_name="activityentry",
            index=models.Index(fields=["agency", "at"], name="activity_by_day"),
        ),
    ]
