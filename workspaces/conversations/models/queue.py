"""The queue of messages to send, and the read receipts to send."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from config.db import CurrentTransaction
from workspaces.conversations.models.messages import Message


class QueuedMessage(models.Model):
    """A message that must be sent. The row is removed once sending has ended.

    `run` is the sender's run that leased it. From then on the provider may have the message. If that run dies before
    the answer, the message is never sent again. It waits until `due_at` for the provider's status (`is_unknown`).
    `queued_at` is the database's time of the insert.
    """

    message = models.OneToOneField(
        Message, primary_key=True, on_delete=models.CASCADE, db_constraint=False, related_name="queued"
    )
    agency_id = models.BigIntegerField()
    workspace_id = models.BigIntegerField()
    channel_id = models.BigIntegerField()
    conversation_id = models.BigIntegerField()
    queued_at = models.DateTimeField(db_default=Now(), editable=False)
    due_at = models.DateTimeField()
    is_ready = models.BooleanField(default=True)
    is_unknown = models.BooleanField(default=False)
    run = models.BigIntegerField(null=True)
    tries = models.SmallIntegerField(default=0)
    position = models.BigIntegerField(db_default=CurrentTransaction())

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(is_ready=True, is_unknown=True), name="queued_unknown_is_not_ready")
        ]
        indexes = [
            models.Index(
                fields=["channel_id", "position", "message"], condition=Q(is_ready=True), name="queued_message_ready"
            ),
            models.Index(fields=["due_at"], condition=Q(is_ready=False), name="queued_message_waiting"),
            models.Index(fields=["conversation_id", "message"], name="queued_message_in_order"),
        ]

    def __str__(self) -> str:
        return f"message {self.message_id}, due at {self.due_at}"


class ReadMark(models.Model):
    """A read receipt that must still be sent to a conversation's contact. The row is removed before the call.

    The sender then looks up the contact and the last read message. The row has no foreign keys; if the conversation is
    gone, nothing is sent.
    """

    conversation_id = models.BigIntegerField(primary_key=True)
    agency_id = models.BigIntegerField()
    channel_id = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["channel_id", "conversation_id"], name="read_mark_by_channel")]

    def __str__(self) -> str:
        return f"read mark of conversation {self.conversation_id}"
