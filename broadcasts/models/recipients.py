"""Those whom a broadcast goes to, one row each: the largest table of the product."""

import re
import uuid
from datetime import datetime
from typing import Any, ClassVar, NamedTuple, Self

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from broadcasts.models.broadcasts import Broadcast
from workspaces.contacts.models import Contact

# The part of a recipient's public id that is the same for all.
NAMESPACE = uuid.UUID("6f1f3a52-5b0c-4f0e-9c37-2f7d4a7f6f0b")
OPAQUE_PREFIX = "r."
OPAQUE = re.compile(r"r\.([1-9][0-9]{0,17})\.([1-9][0-9]{0,17})")


class Stage(models.IntegerChoices):
    """The work that is left: claimed ones may be at the provider, unknown ones may have been there.

    `HELD` waits for room in the number's allowance until `due_at`. Nothing makes a claimed or unknown one ready again
    but the proof that the provider has not taken it.
    """

    READY = 0, "ready"
    CLAIMED = 1, "claimed"
    UNKNOWN = 2, "outcome unknown"
    HELD = 3, "held by the allowance"
    DONE = 4, "done"


class ShownContact(NamedTuple):
    uuid: uuid.UUID
    name: str
    phone: str | None


class RecipientQuerySet(models.QuerySet["Recipient"]):
    def of(self, broadcast: Broadcast) -> Self:
        """Keep the recipients of one broadcast: where every query of a view begins."""
        return self.filter(broadcast_id=broadcast.pk)

    def newest_first(self) -> Self:
        """Contacts are prepared in the order of their ids, so that is the order of the recipients too."""
        return self.order_by("-broadcast_id", "-contact_id")


class Recipient(models.Model):
    """One contact of a broadcast. `stage` is about work and indexed; `status` is what people see and in no index.

    Broadcast and contact are the key, so nobody stands in a broadcast twice, and the table can be partitioned by ranges
    of broadcasts. There are no foreign keys: the one statement that writes recipients reads broadcast and contact.

    `address` is what the network is given (a phone number with its plus, a PSID, an IGSID, a business-scoped id, told
    apart by `address_kind`), null where the contact is skipped at preparation. `values` are what stands for the
    message's variables, in the order of `FrozenMessage.variables`. `run` is the sender's run that has claimed it,
    `claimed_at` when the first one did, moved on by the time since in which it was due and not tried. `is_counted` says
    that it was taken from the number's allowance, `is_billed` that what the provider billed for it was counted.
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

    contact: Contact | None  # where a service has looked it up; None for one that is gone

    objects: ClassVar[RecipientQuerySet] = RecipientQuerySet.as_manager()  # type: ignore[assignment]  # as Django documents it

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
            # The list of those that failed is read by it.
            models.CheckConstraint(
                condition=~Q(status="failed") | Q(failed_at__isnull=False), name="recipient_that_failed_has_a_time"
            ),
        ]
        indexes = [
            models.Index(fields=["broadcast_id", "due_at", "contact_id"], condition=Q(stage=0), name="recipient_ready"),
            models.Index(fields=["run"], condition=Q(stage=1), name="recipient_claimed"),
            models.Index(fields=["due_at"], condition=Q(stage=2), name="recipient_unknown"),
            models.Index(fields=["broadcast_id", "due_at", "contact_id"], condition=Q(stage=3), name="recipient_held"),
            # Few among millions, and asked for; both are written where `stage` changes anyway.
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
        """The public id, which follows from the row's own."""
        return uuid.uuid5(NAMESPACE, f"{self.broadcast_id}.{self.contact_id}")

    @property
    def sends_at(self) -> datetime:
        """When it is, or was, to be sent; once it is claimed, `due_at` may be the end of waiting for its status."""
        is_waiting = self.stage in (Stage.READY, Stage.HELD)
        return self.due_at if is_waiting or self.claimed_at is None else self.claimed_at

    @property
    def phone(self) -> str | None:
        """The number that is, or was, written to; the contact's own where no number is."""
        if self.address_kind == self.AddressKind.PHONE and self.address:
            return self.address
        return self.contact.phone if self.contact else None

    @property
    def shown_contact(self) -> "ShownContact | None":
        """The contact as the row shows it, which keeps its number when they change theirs."""
        return ShownContact(self.contact.uuid, self.contact.name, self.phone) if self.contact else None

    @property
    def shown_error(self) -> dict[str, Any] | None:
        """Why it was not delivered."""
        if self.error_code is None:
            return None
        return {"code": self.error_code, "message": self.error_message, "details": self.error_details}


def opaque_of(broadcast: int, contact: int) -> str:
    """What the provider carries along and gives back in each status: a conversation's message carries a uuid."""
    return f"r.{broadcast}.{contact}"


def recipient_of(opaque: str) -> tuple[int, int] | None:
    """Read what `opaque_of` wrote: the broadcast's and the contact's ids; None for anything else."""
    found = OPAQUE.fullmatch(opaque)
    return (int(found[1]), int(found[2])) if found else None
