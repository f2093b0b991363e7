"""Counts by the hour for the charts of the console's first page."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agency", "0022_bulk_operations_and_exports")]

    operations = [
        migrations.CreateModel(
            name="CounterState",
            fields=[
                ("name", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("counted_until", models.DateTimeField()),
                ("position", models.BigIntegerField(default=0)),
                ("previous_position", models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="HourlyCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=40)),
                ("hour", models.DateTimeField()),
                ("number", models.IntegerField()),
                (
                    "agency",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="hourly_counts",
                        to="agency.agency",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["hour"], name="hourly_count_by_age")],
                "constraints": [
                    models.UniqueConstraint(fields=("agency", "name", "hour"), name="hourly_count_once"),
                    models.CheckConstraint(condition=models.Q(("number__gte", 0)), name="hourly_count_is_not_negative"),
                ],
            },
        ),
    ]
