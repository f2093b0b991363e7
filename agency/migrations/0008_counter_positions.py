"""Counters keep more positions, so that they can count the last hours again."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

KEEP = "UPDATE agency_counterstate SET positions = ARRAY[position, previous_position]"


class Migration(migrations.Migration):
    dependencies = [("agency", "0007_failed_jobs")]

    operations = [
        migrations.AddField(
            model_name="counterstate", name="positions", field=ArrayField(models.BigIntegerField(), default=list)
        ),
        migrations.RunSQL(KEEP, migrations.RunSQL.noop),
        migrations.RemoveField(model_name="counterstate", name="position"),
        migrations.RemoveField(model_name="counterstate", name="previous_position"),
    ]
