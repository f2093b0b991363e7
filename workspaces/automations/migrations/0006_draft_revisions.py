import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("automations", "0005_outside_calls")]

    operations = [
        migrations.CreateModel(
            name="DraftRevision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("flow", models.JSONField()),
                ("action", models.CharField(blank=True, max_length=40)),
                ("is_current", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("created_by", models.CharField(blank=True, max_length=254)),
                (
                    "automation",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="revisions",
                        to="automations.automation",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["automation", "id"], name="draft_revision_in_order")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("is_current", True)),
                        fields=("automation",),
                        name="automation_has_one_current_draft",
                    )
                ],
            },
        )
    ]
