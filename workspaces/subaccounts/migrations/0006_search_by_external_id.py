"""The index on external ids begins with the id, so that a search for names and ids can use it."""

from django.db import migrations, models

NAME = "workspace_external_id_once_per_agency"


class Migration(migrations.Migration):
    dependencies = [("subaccounts", "0005_limited_keys")]

    operations = [
        migrations.RemoveConstraint("workspace", NAME),
        migrations.AddConstraint(
            "workspace",
            models.UniqueConstraint(
                fields=["external_id", "agency"], condition=models.Q(external_id__isnull=False), name=NAME
            ),
        ),
    ]
