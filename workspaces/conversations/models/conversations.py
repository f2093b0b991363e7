"""Conversations, one for each contact and channel, with their notes and settings, and the team's saved replies."""

import uuid
from datetime import datetime, timedelta
from typing import Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from config.db import like_pattern, name_key
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Channel, Workspace

LONGEST_PREVIEW = 200
LONGEST_NOTE = 4_096
LONGEST_OPT_OUT_WORD = 40
MOST_OPT_OUT_WORDS = 20
# These networks accept free text for so long after a contact's last message.
WINDOW = timedelta(hours=24)
PLATFORMS_WITH_WINDOW = frozenset({"whatsapp", "facebook", "instagram"})


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the conversations of one workspace. Every view's query starts here."""
        return self.filter(workspace=workspace)

    def newest_activity_first(self) -> Self:
        return self.order_by("-updated_at", "-id")


class Conversation(models.Model):
    """The messages between the workspace and one contact on one channel. `updated_at` is the newest activity.

    The `last_message…` columns hold all that a list shows, so that lists read no messages.
    `unread_count` counts the incoming messages after `read_up_to`, the provider's time of the last read message.
    `last_inbound_at` is the provider's time of the contact's last action. Free text may be sent for 24 hours after it.
    A conversation is hidden until `snoozed_until`. An incoming message or closing it ends the snooze.
    `contact_received_up_to` and `contact_read_up_to` are set by networks that report up to when the contact got and
    read messages.
    """

    class Status(models.TextChoices):
        OPEN = "open", _("Open")
        CLOSED = "closed", _("Closed")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="conversations", db_index=False)
    channel = models.ForeignKey(Channel, on_delete=models.PROTECT, related_name="conversations", db_index=False)
    contact = models.ForeignKey(Contact, on_delete=models.CASCADE, related_name="conversations", db_index=False)
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    assigned_to = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    snoozed_until = models.DateTimeField(null=True)
    unread_count = models.IntegerField(default=0)
    read_up_to = models.DateTimeField(null=True)
    last_message = models.BigIntegerField(null=True)
    last_message_uuid = models.UUIDField(null=True)
    last_message_at = models.DateTimeField(null=True)
    last_message_direction = models.CharField(max_length=3, blank=True)
    last_message_type = models.CharField(max_length=12, blank=True, db_default="")
    last_message_preview = models.CharField(max_length=LONGEST_PREVIEW, blank=True)
    last_inbound_at = models.DateTimeField(null=True)
    contact_received_up_to = models.DateTimeField(null=True)
    contact_read_up_to = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["contact", "channel"], name="conversation_once_per_channel_and_contact"),
            models.CheckConstraint(condition=Q(unread_count__gte=0), name="conversation_unread_is_counted"),
            models.CheckConstraint(
                condition=Q(snoozed_until__isnull=True) | Q(status="open"), name="conversation_snoozed_is_open"
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "-updated_at", "-id"], name="conversation_newest"),
            models.Index(
                fields=["workspace", "-updated_at", "-id"], condition=Q(unread_count__gt=0), name="conversation_unread"
            ),
            models.Index(fields=["workspace", "status", "-updated_at", "-id"], name="conversation_by_status"),
            models.Index(fields=["channel", "-updated_at", "-id"], name="conversation_by_channel"),
            models.Index(
                fields=["assigned_to", "workspace", "-updated_at", "-id"],
                condition=Q(assigned_to__isnull=False),
                name="conversation_by_holder",
            ),
            models.Index(
                fields=["workspace", "last_message_at", "id"],
                condition=Q(status="open", last_message_direction="in"),
                name="conversation_unanswered",
            ),
            models.Index(
                fields=["workspace", "-updated_at", "-id"],
                condition=Q(snoozed_until__isnull=False),
                name="conversation_snoozed",
            ),
            models.Index(
                fields=["snoozed_until"], condition=Q(snoozed_until__isnull=False), name="conversation_snoozed_until"
            ),
        ]

    def __str__(self) -> str:
        return f"conversation {self.pk}"

    @property
    def window_expires_at(self) -> datetime | None:
        """The end of the 24-hour window for free text. None if the contact never wrote or the network has no window."""
        if self.last_inbound_at is None or self.channel.platform not in PLATFORMS_WITH_WINDOW:
            return None
        return self.last_inbound_at + WINDOW

    @property
    def shown_last_message(self) -> dict[str, object] | None:
        """The last message as lists show it, read from the conversation's columns."""
        if self.last_message_uuid is None:
            return None
        return {
            "id": self.last_message_uuid,
            "direction": self.last_message_direction,
            "type": self.last_message_type,
            "text": self.last_message_preview,
            "created_at": self.last_message_at,
        }


class ConversationCount(models.Model):
    """A change of a channel's number of conversations of one status. The sum of the rows is the number.

    A trigger adds the rows, so writers never wait for a shared counter. It also merges rows now and then.
    """

    workspace_id = models.BigIntegerField()
    channel_id = models.BigIntegerField()
    status = models.CharField(max_length=10)
    number = models.IntegerField()

    class Meta:
        indexes = [
            models.Index(
                fields=["workspace_id"], include=["channel_id", "status", "number"], name="conversation_count_kept"
            )
        ]

    def __str__(self) -> str:
        return f"{self.number} conversations of channel {self.channel_id}"


class Note(models.Model):
    """A note of a team member in a conversation. The contact never sees it."""

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

    @property
    def author(self) -> dict[str, str]:
        """The author of the note."""
        return {"kind": self.author_kind, "label": self.author_label}


class ConversationSettings(models.Model):
    """A workspace's settings of conversations. A workspace without a row has the defaults.

    `opt_out_words` opt a contact out as STOP does. They are compared in the form that `opt_out_key` returns.
    """

    workspace = models.OneToOneField(
        Workspace, primary_key=True, on_delete=models.CASCADE, related_name="conversation_settings"
    )
    opt_out_words = ArrayField(models.CharField(max_length=LONGEST_OPT_OUT_WORD), default=list, blank=True)

    class Meta:
        verbose_name_plural = "conversation settings"

    def __str__(self) -> str:
        return f"settings of workspace {self.workspace_id}"


LONGEST_NAME = 60
LONGEST_REPLY = 2_000


class SavedReplyQuerySet(models.QuerySet["SavedReply"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the saved replies of one workspace."""
        return self.filter(workspace=workspace)

    def by_name(self) -> Self:
        return self.order_by("name_key", "id")

    def matching(self, fragment: str) -> Self:
        """Keep the saved replies with the fragment in their name or text, in any case."""
        return self.filter(Q(name_key__like=like_pattern(name_key(fragment))) | Q(text__icontains=fragment))


class SavedReply(models.Model):
    """A text that is inserted into an answer by its name. Variables such as `{{contact.first_name}}` are filled in."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="saved_replies", db_index=False)
    name = models.CharField(max_length=LONGEST_NAME)
    name_key = models.CharField(max_length=4 * LONGEST_NAME)
    text = models.CharField(max_length=LONGEST_REPLY)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = SavedReplyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "saved replies"
        constraints = [models.UniqueConstraint(fields=["workspace", "name_key"], name="saved_reply_once_per_name")]

    def __str__(self) -> str:
        return self.name


class ComposerSettings(models.Model):
    """How a person writes in every inbox. Without `sends_with_enter`, Enter breaks the line and Ctrl+Enter sends."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="+")
    sends_with_enter = models.BooleanField(default=False)

    class Meta:
        verbose_name_plural = "composer settings"

    def __str__(self) -> str:
        return f"composer settings of user {self.user_id}"
