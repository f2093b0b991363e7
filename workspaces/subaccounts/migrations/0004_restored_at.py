"""The time at which a sub-account's suspension was last lifted."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("subaccounts", "0003_provider_times")]

    operations = [
        migrations.AddField("workspace", "restored_at", models.DateTimeField(blank=True, editable=False, null=True))
    ]
