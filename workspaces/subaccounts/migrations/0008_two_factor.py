"""A workspace may ask everybody who uses its dashboard for two-factor."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("subaccounts", "0007_channel_limits")]

    operations = [
        migrations.AddField(
            "workspace", "two_factor_required", models.BooleanField(db_default=False, default=False, editable=False)
        ),
    ]
