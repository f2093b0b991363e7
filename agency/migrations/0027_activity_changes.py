"""What was changed, before and after, stands with each entry of the activity log."""

import django.db.models.functions.comparison
import django.db.models.functions.text
import django.db.models.lookups
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agency", "0026_notifications")]

    operations = [
        migrations.AddField(
            model_name="activityentry",
            name="changes",
            field=models.JSONField(db_default={}, default=dict),
        ),
        migrations.AddConstraint(
            model_name="activityentry",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.LessThanOrEqual(
                    django.db.models.functions.text.Length(
                        django.db.models.functions.comparison.Cast("changes", models.TextField())
                    ),
                    100_000,
                ),
                name="activity_changes_are_small",
            ),
        ),
    ]
