"""Keeps the queue of automations' messages apart from that of people's messages."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("conversations", "0004_counts")]

    operations = [
        migrations.AddField("queuedmessage", "is_automated", models.BooleanField(default=False, db_default=False)),
        migrations.AddField(
            "queuedmessage", "withdrawn_as", models.CharField(max_length=60, blank=True, default="", db_default="")
        ),
        migrations.RemoveIndex("queuedmessage", "queued_message_ready"),
        migrations.RemoveIndex("queuedmessage", "queued_message_waiting"),
        migrations.AddIndex(
            "queuedmessage",
            models.Index(
                fields=["channel_id", "position", "message"],
                condition=Q(is_ready=True, is_automated=False),
                name="queued_message_ready",
            ),
        ),
        migrations.AddIndex(
            "queuedmessage",
            models.Index(
                fields=["channel_id", "position", "message"],
                condition=Q(is_ready=True, is_automated=True),
                name="queued_automated_ready",
            ),
        ),
        migrations.AddIndex(
            "queuedmessage",
            models.Index(
                fields=["due_at"], condition=Q(is_ready=False, is_automated=False), name="queued_message_waiting"
            ),
        ),
        migrations.AddIndex(
            "queuedmessage",
            models.Index(
                fields=["due_at"], condition=Q(is_ready=False, is_automated=True), name="queued_automated_waiting"
            ),
        ),
    ]
