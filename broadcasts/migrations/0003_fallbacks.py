"""Adds the texts that contacts without a value for a variable get."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("broadcasts", "0002_storage")]

    operations = [
        migrations.AddField(
            model_name="broadcast", name="fallbacks", field=models.JSONField(blank=True, db_default={}, default=dict)
        )
    ]
