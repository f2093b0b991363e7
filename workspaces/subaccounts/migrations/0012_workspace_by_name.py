"""Sub-accounts by their names: the console's list can be sorted by them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("subaccounts", "0011_former_agencies"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="workspace",
            index=models.Index(fields=["agency", "name_key", "id"], name="workspace_by_name"),
        ),
    ]
