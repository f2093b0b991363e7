"""No index of what the unique one of workspace and add-on begins with."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("subaccounts", "0002_database_rules")]

    operations = [
        migrations.AlterField(
            "heldaddon",
            "workspace",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="held_addons",
                to="subaccounts.workspace",
            ),
        ),
    ]
