"""A workspace's people may put the list of first steps away."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("subaccounts", "0013_finding")]

    operations = [
        migrations.AddField(
            "workspace", "first_steps_hidden", models.BooleanField(db_default=False, default=False, editable=False)
        ),
    ]
