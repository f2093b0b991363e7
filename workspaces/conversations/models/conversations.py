"""Threads: one for each contact and channel."""

import uuid
from typing import ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Channel, Workspace

LONGEST_PREVIEW = 200
LONGEST_NOTE = 4_096


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the conversations of one workspace: where every query of a view begins."""
        return self.filter(workspace=workspace)

    def newest_activity_first(self) -> Self:
        return self.order_by("-updated_at", "-id")


class Conversation(models.Model):
    """`updated_at` is its newest activity. What a list shows of the last message stands here, so that none is read.

    `unread_count` counts what came in after `read_up_to`, the provider's time of the last message that was read.
    `last_inbound_at` is the provider's time of what the contact last did; free text may be sent for 24 hours after.
    """

    class Status(models.TextChoices):
        OPEN = "open", "Open"
        CLOSED = "closed", "Closed"

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="conversations", db_index=False)
    channel = models.ForeignKey(Channel, on_delete=models.PROTECT, related_name="conversations", db_index=False)
    contact = models.ForeignKey(Contact, on_delete=models.CASCADE, related_name="conversations")
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    assigned_to = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    unread_count = models.IntegerField(default=0)
    read_up_to = models.DateTimeField(null=True)
    last_message = models.BigIntegerField(null=True)
    last_message_at = models.DateTimeField(null=True)
    last_message_direction = models.CharField(max_length=3, blank=True)
    last_message_preview = models.CharField(max_length=LONGEST_PREVIEW, blank=True)
    last_inbound_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[ConversationQuerySet] = ConversationQuerySet.as_manager()  # type: ignore[assignment]  # as Django documents it

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["channel", "contact"], name="conversation_once_per_channel_and_contact"),
            models.CheckConstraint(condition=Q(unread_count__gte=0), name="conversation_unread_is_counted"),
        ]
        indexes = [
            models.Index(fields=["workspace", "-updated_at", "-id"], name="conversation_newest"),
            models.Index(
                fields=["workspace", "-updated_at", "-id"], condition=Q(unread_count__gt=0), name="conversation_unread"
            ),
        ]

    def __str__(self) -> str:
        return f"conversation {self.pk}"


class Note(models.Model):
    """What colleagues tell each other in a conversation; the contact never sees it."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="notes", db_index=False)
    text = models.CharField(max_length=LONGEST_NOTE)
    author_kind = models.CharField(max_length=20)
    author_label = models.CharField(max_length=254)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        indexes = [models.Index(F("conversation"), F("created_at").desc(), F("id").desc(), name="note_newest")]

    def __str__(self) -> str:
        return f"note {self.pk}"
