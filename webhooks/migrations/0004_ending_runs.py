"""A dispatcher's run that is ending counts for no share of the endpoints."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0003_partitions")]

    operations = [
        migrations.AddField("dispatcherrun", "is_ending", models.BooleanField(db_default=False, default=False)),
    ]
