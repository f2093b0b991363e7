from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("automations", "0006_draft_revisions")]

    operations = [
        migrations.AddField("automation", "removed_at", models.DateTimeField(editable=False, null=True)),
        migrations.AddConstraint(
            "automation",
            models.CheckConstraint(
                condition=Q(("removed_at", None)) | Q(("enabled", False), ("from_entry", None), ("published", None)),
                name="automation_removed_does_nothing",
            ),
        ),
        migrations.AddIndex(
            "automation",
            models.Index(condition=Q(("removed_at__isnull", False)), fields=["removed_at"], name="automation_removed"),
        ),
    ]
