"""Audiences that are counted in the background."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("broadcasts", "0003_failurestreak"), ("subaccounts", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="AudienceForecast",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64)),
                ("draft", models.JSONField()),
                ("starts_at", models.DateTimeField()),
                ("counted_up_to", models.BigIntegerField()),
                ("last_contact", models.BigIntegerField()),
                ("walked", models.IntegerField()),
                ("total", models.IntegerField()),
                ("found", models.JSONField()),
                ("tries", models.SmallIntegerField(default=0)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("worked_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("completed_at", models.DateTimeField(null=True)),
                (
                    "workspace",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="subaccounts.workspace",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(completed_at=None), fields=["worked_at"], name="audience_forecast_unfinished"
                    ),
                    models.Index(fields=["created_at"], name="audience_forecast_oldest"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("workspace", "digest"), name="audience_forecast_once_per_draft")
                ],
            },
        )
    ]
