"""Messages in both directions, the queue of messages to send, files, changes of unknown messages, and comments."""

import uuid
from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from config.db import CurrentTransaction
from workspaces.contacts.models import Contact
from workspaces.conversations.models.conversations import Conversation
from workspaces.media.models import Media
from workspaces.subaccounts.models import Workspace

LONGEST_PROVIDER_ID = 512
LONGEST_COMMENT_ID = 100
# The error of a message without any status for 15 minutes. A later status may still say that it was delivered.
OUTCOME_UNKNOWN = "send_outcome_unknown"


class Direction(models.TextChoices):
    IN = "in", _("In")
    OUT = "out", _("Out")


class Type(models.TextChoices):
    TEXT = "text", _("Text")
    IMAGE = "image", _("Image")
    VIDEO = "video", _("Video")
    AUDIO = "audio", _("Audio")
    DOCUMENT = "document", _("Document")
    STICKER = "sticker", _("Sticker")
    LOCATION = "location", _("Location")
    CONTACTS = "contacts", _("Contacts")
    TEMPLATE = "template", _("Template")
    INTERACTIVE = "interactive", _("Interactive")
    REACTION = "reaction", _("Reaction")
    UNSUPPORTED = "unsupported", _("Unsupported")


class Status(models.TextChoices):
    RECEIVED = "received", _("Received")
    PENDING = "pending", _("Pending")
    SENT = "sent", _("Sent")
    DELIVERED = "delivered", _("Delivered")
    READ = "read", _("Read")
    FAILED = "failed", _("Failed")


class MessageQuerySet(models.QuerySet["Message"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the messages of one workspace."""
        return self.filter(workspace_id=workspace.pk)

    def newest_first(self) -> Self:
        """Order by the provider's time, then by id."""
        return self.order_by("-provider_time", "-id")


class Message(models.Model):
    """One message. `provider_time` gives its place in the thread: the provider's time if reported, else our own.

    `details` holds the type's other data (location, contact cards, buttons, the message replied to, the referring ad)
    as the API shows it. `reactions` lists the reactions with their authors. `sent_by_kind` and `sent_by_label` are
    empty for incoming messages. `sent_elsewhere` marks messages that another app sent. A message of ours carries its
    `uuid` to the provider as `opaque`, and its statuses return it. Some foreign keys have no database constraint,
    because the inserting statement reads the referenced row itself.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace_id = models.BigIntegerField()
    channel_id = models.BigIntegerField()
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, db_constraint=False, db_index=False, related_name="messages"
    )
    direction = models.CharField(max_length=3, choices=Direction)
    type = models.CharField(max_length=12, choices=Type)
    text = models.TextField(blank=True)
    details = models.JSONField(default=dict, db_default={})
    reactions = models.JSONField(default=list, db_default=[])
    template = models.JSONField(null=True)
    media = models.ForeignKey(Media, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    status = models.CharField(max_length=10, choices=Status)
    error_code = models.CharField(max_length=60, null=True)
    error_message = models.CharField(max_length=1_000, null=True)
    provider_message_id = models.CharField(max_length=LONGEST_PROVIDER_ID, null=True)
    sent_elsewhere = models.BooleanField(default=False)
    sent_by_kind = models.CharField(max_length=20, blank=True)
    sent_by_label = models.CharField(max_length=254, blank=True)
    provider_time = models.DateTimeField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    sent_at = models.DateTimeField(null=True)
    delivered_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)
    edited_at = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True)

    objects = MessageQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["channel_id", "provider_message_id"],
                condition=Q(provider_message_id__isnull=False),
                name="message_once_per_channel",
            ),
            models.CheckConstraint(
                condition=Q(direction="in", status="received") | (Q(direction="out") & ~Q(status="received")),
                name="message_status_fits_its_direction",
            ),
        ]
        # No index has a column that statuses change, so a status update stays on the row's page (HOT).
        indexes = [
            models.Index(fields=["conversation", "-provider_time", "-id"], name="message_newest"),
            models.Index(fields=["media"], condition=Q(media__isnull=False), name="message_of_media"),
        ]

    def __str__(self) -> str:
        return f"message {self.pk}"

    @property
    def shown_error(self) -> dict[str, str] | None:
        """The error of a failed message, or None."""
        return {"code": self.error_code, "message": self.error_message or ""} if self.error_code else None

    @property
    def has_gone_out(self) -> bool:
        """Whether the outcome was unknown and the network later reported the message as sent, but not as delivered."""
        return self.error_code == OUTCOME_UNKNOWN and self.sent_at is not None

    @property
    def shown_reactions(self) -> list[dict[str, object]]:
        """The reactions that were not removed."""
        return [{**one, "at": datetime.fromisoformat(one["at"])} for one in self.reactions if one["emoji"]]

    @property
    def sender(self) -> dict[str, str]:
        """The sender: the contact, another app (`elsewhere`), or the actor in `sent_by_kind`."""
        if self.direction == Direction.IN:
            contact = self.conversation.contact
            return {"kind": "contact", "label": contact.name or contact.phone or ""}
        return {"kind": self.sent_by_kind or "elsewhere", "label": self.sent_by_label}

    @property
    def media_status(self) -> str | None:
        """The fetch status of the incoming file, or None without a file."""
        fetch: MediaFetch | None = getattr(self, "fetch", None)
        return fetch.status if fetch else None


class MediaFetch(models.Model):
    """The fetch of an incoming message's file from the provider, and its result.

    `reference` is WhatsApp's media id, or the URL from Messenger or Instagram.
    """

    class Status(models.TextChoices):
        PENDING = "pending", _("To be fetched")
        READY = "ready", _("Kept")
        FAILED = "failed", _("Could not be fetched")
        EXPIRED = "expired", _("No longer there")
        NOT_KEPT = "not_kept", _("May not be kept")

    message = models.OneToOneField(Message, primary_key=True, on_delete=models.CASCADE, related_name="fetch")
    channel_id = models.BigIntegerField()
    reference = models.CharField(max_length=4_096)
    content_type = models.CharField(max_length=200, blank=True)
    sha256 = models.CharField(max_length=100, blank=True)
    filename = models.CharField(max_length=300, blank=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    fault = models.CharField(max_length=60, blank=True)
    tries = models.SmallIntegerField(default=0)
    due_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "media fetches"
        indexes = [models.Index(fields=["due_at"], condition=Q(status="pending"), name="media_fetch_due")]

    def __str__(self) -> str:
        return f"file of message {self.message_id}"


class ParkedChange(models.Model):
    """An edit, removal or reaction that came before its message.

    It is applied when the message comes, and dropped after a day or when its channel has too many newer ones.
    `message_id` is the provider's, `text` the new text or the emoji, and `at` the provider's time of the change.
    `parked_at` is when the change was last reported or its message became known.
    """

    class Kind(models.TextChoices):
        EDIT = "edit", _("Edit")
        REMOVAL = "removal", _("Removal")
        REACTION = "reaction", _("Reaction")

    channel_id = models.BigIntegerField()
    message_id = models.CharField(max_length=512)
    kind = models.CharField(max_length=10, choices=Kind)
    text = models.TextField(blank=True)
    at = models.DateTimeField()
    parked_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["channel_id", "message_id", "kind"], name="parked_change_once_per_message_and_kind"
            )
        ]
        indexes = [models.Index(fields=["parked_at"], name="parked_change_newest")]

    def __str__(self) -> str:
        return f"{self.kind} of a message that is not known yet"


class QueuedMessage(models.Model):
    """A message that must be sent. The row is removed once sending has ended.

    `run` is the sender's run that leased it. From then on the provider may have the message. If that run dies before
    the answer, the message is never sent again. It waits until `due_at` for the provider's status (`is_unknown`).
    `queued_at` is the database's time of the insert. Automations' messages (`is_automated`) wait behind people's.
    `withdrawn_as` is the error code of an automated message that was withdrawn while a run held it: it is not tried
    again.
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
    is_automated = models.BooleanField(default=False, db_default=False)
    withdrawn_as = models.CharField(max_length=60, blank=True, default="", db_default="")
    position = models.BigIntegerField(db_default=CurrentTransaction())

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(is_ready=True, is_unknown=True), name="queued_unknown_is_not_ready")
        ]
        indexes = [
            models.Index(
                fields=["channel_id", "position", "message"],
                condition=Q(is_ready=True, is_automated=False),
                name="queued_message_ready",
            ),
            models.Index(
                fields=["channel_id", "position", "message"],
                condition=Q(is_ready=True, is_automated=True),
                name="queued_automated_ready",
            ),
            models.Index(
                fields=["due_at"], condition=Q(is_ready=False, is_automated=False), name="queued_message_waiting"
            ),
            models.Index(
                fields=["due_at"], condition=Q(is_ready=False, is_automated=True), name="queued_automated_waiting"
            ),
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


class Comment(models.Model):
    """A person's comment on a post, reel, advertisement or live video of a channel's account.

    `comment_id`, `parent_id` and `post_id` are the network's. `at` is the network's time. A removed comment keeps its
    row without text, so that it does not come again. It has no contact if its removal came first.

    The network takes one private reply to each comment. `privately_answered_at` says that it was used.
    """

    workspace_id = models.BigIntegerField()
    channel_id = models.BigIntegerField()
    contact = models.ForeignKey(Contact, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    comment_id = models.CharField(max_length=LONGEST_COMMENT_ID)
    parent_id = models.CharField(max_length=LONGEST_COMMENT_ID, blank=True)
    post_id = models.CharField(max_length=LONGEST_COMMENT_ID, blank=True)
    text = models.TextField(blank=True)
    details = models.JSONField(default=dict)
    at = models.DateTimeField()
    edited_at = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True)
    privately_answered_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["channel_id", "comment_id"], name="comment_once_per_channel")]
        indexes = [models.Index(fields=["contact"], condition=Q(contact__isnull=False), name="comment_of_contact")]

    def __str__(self) -> str:
        return f"comment {self.pk}"
