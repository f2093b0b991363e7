"""Adds the time since when a message waits to be sent."""

from django.db import migrations, models
from django.db.models.functions import Now


class Migration(migrations.Migration):
    dependencies = [("conversations", "0002_storage")]

    operations = [
        migrations.AddField("queuedmessage", "queued_at", models.DateTimeField(db_default=Now(), editable=False))
    ]
