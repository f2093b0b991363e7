"""The agency's own id comes first in its index, so that a search finds it beside names."""

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
