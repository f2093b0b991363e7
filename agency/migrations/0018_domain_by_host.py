"""All who claim a host are found by it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agency", "0017_activity_of_workspaces"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="domain",
            index=models.Index(fields=["host"], name="domain_by_host"),
        ),
    ]
