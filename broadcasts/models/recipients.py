"""A broadcast's recipients, one row each, and clicks that are not counted yet. It is the product's largest table."""

import re
import uuid
from datetime import datetime
from typing import NamedTuple, Self

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from broadcasts.models.broadcasts import Broadcast
from workspaces.contacts.models import Contact


class Click(models.Model):
    """A click on a tracked link. The row is removed once it is counted; each recipient counts once."""

    broadcast_id = models.BigIntegerField()
    contact_id = models.BigIntegerField()
    link = models.SmallIntegerField()
    clicked_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"click of contact {self.contact_id} on link {self.link} of broadcast {self.broadcast_id}"


# The namespace of every recipient's public id.
NAMESPACE = uuid.UUID("6f1f3a52-5b0c-4f0e-9c37-2f7d4a7f6f0b")
CALLBACK_DATA_PREFIX = "r."
CALLBACK_DATA = re.compile(r"r\.([1-9][0-9]{0,17})\.([1-9][0-9]{0,17})")


class Stage(models.IntegerChoices):
    """The work left on a recipient. A claimed message may be at the provider; an unknown message may have been there.

    `HELD` waits for room in the number's allowance until `due_at`. A claimed or unknown recipient becomes ready again
    only with proof that the provider did not accept the message.
    """

    READY = 0, "ready"
    CLAIMED = 1, "claimed"
    UNKNOWN = 2, "outcome unknown"
    HELD = 3, "held by the allowance"
    DONE = 4, "done"


class ContactSnapshot(NamedTuple):
    uuid: uuid.UUID
    name: str
    phone: str | None


class RecipientQuerySet(models.QuerySet["Recipient"]):
    def of(self, broadcast: Broadcast) -> Self:
        """Keep the recipients of one broadcast. Every query of a view starts here."""
        return self.filter(broadcast_id=broadcast.pk)

    def newest_first(self) -> Self:
        """Newest recipients first. Contacts are prepared in the order of their ids, so the key gives the order."""
        return self.order_by("-broadcast_id", "-contact_id")


class Recipient(models.Model):
    """A contact of a broadcast. `stage` is for the sender and indexed; `status` is for people and in no index.

    The key is broadcast and contact, so a contact is in a broadcast only once, and the table can be partitioned by
    ranges of broadcasts. There are no foreign keys: the only statement that inserts recipients reads the broadcast and
    contact.

    `address` is the address for the network: a phone number with its plus, a PSID, an IGSID, or a business-scoped id.
    `address_kind` tells them apart. It is null if preparation skipped the contact. `values` fill the message's
    variables, in the order of `FrozenMessage.variables`.

    `run` is the sender run that has claimed the recipient. `claimed_at` is the time of the first claim. It moves
    forward by the time in which the recipient was due but not tried. `is_counted` says that the recipient uses up room
    in the number's allowance, `is_billed` that its bill was counted.
    """

    class Status(models.TextChoices):
        PENDING = "pending", _("Pending")
        SENT = "sent", _("Sent")
        DELIVERED = "delivered", _("Delivered")
        READ = "read", _("Read")
        FAILED = "failed", _("Failed")
        SKIPPED = "skipped", _("Skipped")

    class SkipReason(models.TextChoices):
        OPTED_OUT = "opted_out", _("Opted out")
        NO_ADDRESS = "no_address", _("No address on this channel")
        OUTSIDE_WINDOW = "outside_window", _("Outside the 24-hour window")
        LOCAL_TIME_PASSED = "local_time_passed", _("The local time had passed")
        TOO_LATE = "too_late", _("More than 72 hours late")
        DUPLICATE_ADDRESS = "duplicate_address", _("Another contact has the same address")
        VARIABLE_MISSING = "variable_missing", _("A variable has no value")
        CANCELLED = "cancelled", _("Cancelled before it was sent")

    class AddressKind(models.TextChoices):
        PHONE = "phone"
        EXTERNAL_ID = "id"
        USER_ID = "user"

    pk = models.CompositePrimaryKey("broadcast_id", "contact_id")
    broadcast_id = models.BigIntegerField()
    contact_id = models.BigIntegerField()
    due_at = models.DateTimeField()
    run = models.BigIntegerField(null=True)
    stage = models.SmallIntegerField(choices=Stage, default=Stage.READY)
    tries = models.SmallIntegerField(default=0)
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    address_kind = models.CharField(max_length=5, choices=AddressKind, null=True)
    address = models.CharField(max_length=160, null=True)
    timezone = models.CharField(max_length=64, null=True)
    skip_reason = models.CharField(max_length=20, choices=SkipReason, null=True)
    values = models.JSONField(null=True)
    is_counted = models.BooleanField(default=False, db_default=False)
    is_billed = models.BooleanField(default=False, db_default=False)
    claimed_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    delivered_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)
    failed_at = models.DateTimeField(null=True)
    clicked_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    provider_message_id = models.CharField(max_length=200, null=True)
    error_code = models.CharField(max_length=60, null=True)
    error_message = models.CharField(max_length=1_000, null=True)
    error_details = models.CharField(max_length=1_000, null=True)

    contact: Contact | None  # set only by services that look it up; None for a deleted contact

    objects = RecipientQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["broadcast_id", "address"],
                condition=Q(address__isnull=False),
                name="recipient_address_once_per_broadcast",
            ),
            models.CheckConstraint(
                condition=Q(skip_reason=None) | Q(status="skipped"), name="recipient_reason_of_a_skipped_one_only"
            ),
            # The list of failed recipients is read by this time.
            models.CheckConstraint(
                condition=~Q(status="failed") | Q(failed_at__isnull=False), name="recipient_that_failed_has_a_time"
            ),
        ]
        indexes = [
            models.Index(fields=["broadcast_id", "due_at", "contact_id"], condition=Q(stage=0), name="recipient_ready"),
            models.Index(fields=["run"], condition=Q(stage=1), name="recipient_claimed"),
            models.Index(fields=["due_at"], condition=Q(stage=2), name="recipient_unknown"),
            models.Index(fields=["broadcast_id", "due_at", "contact_id"], condition=Q(stage=3), name="recipient_held"),
            # Lists ask for these few among millions. Both columns are written where `stage` changes anyway.
            models.Index(
                fields=["broadcast_id", "contact_id"], condition=Q(failed_at__isnull=False), name="recipient_failed"
            ),
            models.Index(
                fields=["broadcast_id", "contact_id"], condition=Q(skip_reason__isnull=False), name="recipient_skipped"
            ),
        ]

    def __str__(self) -> str:
        return f"contact {self.contact_id} of broadcast {self.broadcast_id}"

    @property
    def uuid(self) -> uuid.UUID:
        """The public id, computed from the row's key."""
        return uuid.uuid5(NAMESPACE, f"{self.broadcast_id}.{self.contact_id}")

    @property
    def sends_at(self) -> datetime:
        """When the message is or was due.

        After a claim `due_at` may be the end of the wait for a status, so `claimed_at` counts then.
        """
        is_waiting = self.stage in (Stage.READY, Stage.HELD)
        return self.due_at if is_waiting or self.claimed_at is None else self.claimed_at

    @property
    def phone(self) -> str | None:
        """The number that the message goes or went to, or else the contact's own number."""
        if self.address_kind == self.AddressKind.PHONE and self.address:
            return self.address
        return self.contact.phone if self.contact else None

    @property
    def shown_contact(self) -> "ContactSnapshot | None":
        """The contact as the API shows it. A recipient keeps its number when the contact's number changes."""
        return ContactSnapshot(self.contact.uuid, self.contact.name, self.phone) if self.contact else None

    @property
    def shown_error(self) -> dict[str, object] | None:
        """The error of a message that was not delivered."""
        if self.error_code is None:
            return None
        return {"code": self.error_code, "message": self.error_message, "details": self.error_details}


def callback_data_of(broadcast: int, contact: int) -> str:
    """Return the id that the provider repeats in each status. A conversation's message has a uuid instead."""
    return f"r.{broadcast}.{contact}"


def parse_callback_data(opaque: str) -> tuple[int, int] | None:
    """Parse an id made by `callback_data_of` into the ids of broadcast and contact; None for any other text."""
    found = CALLBACK_DATA.fullmatch(opaque)
    return (int(found[1]), int(found[2])) if found else None
