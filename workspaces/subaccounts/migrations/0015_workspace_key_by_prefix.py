"""Support finds a workspace's API key by the part of it that is kept to be read."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("subaccounts", "0014_first_steps_hidden")]

    operations = [
        migrations.AddIndex(
            model_name="workspacekey",
            index=models.Index(fields=["prefix", "-id"], name="workspace_key_by_prefix"),
        ),
    ]
