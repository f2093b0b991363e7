"""A message to many contacts of a workspace: its waves, counts, costs, failures in a row, and audience forecasts."""

import uuid
from typing import Any, Self
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.models import Agency
from workspaces.contacts.models import Segment
from workspaces.subaccounts.models import Channel, Workspace

LONGEST_NAME = 120
MOST_CONTACTS = 10_000


class BroadcastQuerySet(models.QuerySet["Broadcast"]):
    def of(self, workspace: Workspace) -> Self:
        """Keep the broadcasts of one workspace. Every query of a view starts here."""
        return self.filter(workspace=workspace)

    def of_agency(self, agency: Agency) -> Self:
        """Keep the broadcasts of all of an agency's workspaces."""
        return self.filter(workspace__agency=agency)

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")


class Broadcast(models.Model):
    """A message to many contacts. Only the services change `status`, each with one conditional update.

    `message` and `audience` are as the author wrote them, except that `chosen_contacts` holds the chosen contacts as
    row ids. `fallbacks` has the text for contacts without a value, by variable. `scheduled_at` is the moment that the
    API shows. With `timezone_mode` "contact" it is the anchor: the wall clock `scheduled_local_at`
    (`YYYY-MM-DD HH:MM:SS`) at UTC+14. `due_at` is when the sweep begins the broadcast.

    The beginning fixes everything that sending needs: `started_at`, `last_contact` (the workspace's highest contact id)
    and `frozen`, a `broadcasts.content.FrozenMessage` with the segment's `filter`. Its `is_refused` says that the
    message could not be sent then; in that case resuming fixes the message.

    Preparation walks the contacts by their ids. `prepared_up_to` is how far it has come, and `is_prepared` says that it
    is complete. `broke_off_at` is when preparation was given up; resuming clears it. `next_due_at` is when a recipient
    may be due: never later than the earliest ready recipient, and null if none waits. On a cancelled broadcast it says
    that some recipients still have to be skipped.

    `counted_at` is when the broadcast was scheduled, and so the month in which the plan's limit counts it. A broadcast
    that is cancelled before it begins is not counted.
    """

    class Status(models.TextChoices):
        DRAFT = "Draft", _("Draft")
        SCHEDULED = "Scheduled", _("Scheduled")
        SENDING = "sending", _("Sending")
        PAUSED = "paused", _("Paused")
        SENT = "sent", _("Sent")
        CANCELLED = "cancelled", _("Cancelled")

    class Type(models.TextChoices):
        CONTACT = "contact", _("To contacts")
        RETARGET = "retarget", _("Again, by what people did")

    class TimezoneMode(models.TextChoices):
        FIXED = "fixed", _("At one moment")
        CONTACT = "contact", _("At each contact's own time")

    class Engagement(models.TextChoices):
        SENT = "sent", _("Sent")
        DELIVERED = "delivered", _("Delivered")
        READ = "read", _("Read")
        NOT_READ = "not_read", _("Not read")
        CLICKED = "clicked", _("Clicked")
        NOT_CLICKED = "not_clicked", _("Not clicked")
        FAILED = "failed", _("Failed")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="broadcasts", db_index=False)
    channel = models.ForeignKey(Channel, on_delete=models.PROTECT, related_name="broadcasts")
    name = models.CharField(max_length=LONGEST_NAME)
    type = models.CharField(max_length=10, choices=Type, default=Type.CONTACT)
    status = models.CharField(max_length=10, choices=Status, default=Status.DRAFT)
    paused_reason = models.CharField(max_length=500, null=True, blank=True)
    audience = models.JSONField(null=True)
    segment = models.ForeignKey(Segment, null=True, blank=True, on_delete=models.SET_NULL, related_name="broadcasts")
    chosen_contacts = ArrayField(models.BigIntegerField(), null=True, blank=True)
    source_broadcast = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="retargets"
    )
    retarget_engagement = models.CharField(max_length=12, choices=Engagement, null=True, blank=True)
    message = models.JSONField()
    fallbacks = models.JSONField(default=dict, db_default={}, blank=True)
    timezone_mode = models.CharField(max_length=10, choices=TimezoneMode, default=TimezoneMode.FIXED)
    scheduled_at = models.DateTimeField(null=True, blank=True)
    scheduled_local_at = models.CharField(max_length=19, null=True, blank=True)
    due_at = models.DateTimeField(null=True)
    requires_approval = models.BooleanField(default=False)
    approved_at = models.DateTimeField(null=True, blank=True)
    approved_by = models.CharField(max_length=254, blank=True)
    created_by_kind = models.CharField(max_length=30)
    created_by_label = models.CharField(max_length=254)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    frozen = models.JSONField(null=True, editable=False)
    last_contact = models.BigIntegerField(null=True, editable=False)
    prepared_up_to = models.BigIntegerField(default=0, editable=False)
    is_prepared = models.BooleanField(default=False, editable=False)
    broke_off_at = models.DateTimeField(null=True, editable=False)
    next_due_at = models.DateTimeField(null=True, editable=False)
    recipients_count = models.IntegerField(default=0, editable=False)
    counted_at = models.DateTimeField(null=True, editable=False)

    progress: Any  # how far it has come; set only by services that look it up

    objects = BroadcastQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["Draft", "Scheduled", "sending", "paused", "sent", "cancelled"]),
                name="broadcast_status_is_known",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["Draft", "Scheduled", "cancelled"])
                | Q(started_at__isnull=False, frozen__isnull=False, last_contact__isnull=False),
                name="broadcast_under_way_is_fixed",
            ),
            models.CheckConstraint(
                condition=~Q(type="retarget") | Q(source_broadcast__isnull=False, retarget_engagement__isnull=False),
                name="broadcast_retarget_has_a_source",
            ),
            models.CheckConstraint(
                condition=Q(paused_reason=None) | Q(status="paused"), name="broadcast_reason_of_a_pause_only"
            ),
            models.CheckConstraint(
                condition=~Q(status__in=["sent", "cancelled"]) | Q(completed_at__isnull=False),
                name="broadcast_that_ended_has_a_time",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="broadcast_newest"),
            models.Index(fields=["started_at"], condition=Q(started_at__isnull=False), name="broadcast_begun"),
            models.Index(fields=["due_at", "id"], condition=Q(status="Scheduled"), name="broadcast_scheduled"),
            models.Index(fields=["workspace", "due_at", "id"], condition=Q(status="Scheduled"), name="broadcast_next"),
            models.Index(fields=["next_due_at", "id"], condition=Q(status="sending"), name="broadcast_sending"),
            models.Index(
                fields=["id"],
                condition=Q(status__in=["sending", "paused"], is_prepared=False),
                name="broadcast_unprepared",
            ),
            models.Index(
                fields=["id"], condition=Q(status="cancelled", next_due_at__isnull=False), name="broadcast_cancelled"
            ),
            models.Index(
                fields=["workspace", "counted_at"], condition=Q(counted_at__isnull=False), name="broadcast_counted"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def source_uuid(self) -> UUID | None:
        """The public id of the earlier broadcast that a retarget goes back to."""
        return self.source_broadcast.uuid if self.source_broadcast else None

    @property
    def is_under_way(self) -> bool:
        return self.status in (self.Status.SENDING, self.Status.PAUSED)


class Wave(models.Model):
    """The recipients of a broadcast that preparation made due at the same moment; one row for each moment."""

    broadcast = models.ForeignKey(Broadcast, on_delete=models.CASCADE, related_name="waves", db_index=False)
    due_at = models.DateTimeField()
    timezones = ArrayField(models.CharField(max_length=64), default=list)
    total = models.IntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["broadcast", "due_at"], name="wave_once_per_moment")]

    def __str__(self) -> str:
        return f"wave of broadcast {self.broadcast_id} at {self.due_at}"


# Chunks make pages far from both ends of a list cheap.


class RecipientChunk(models.Model):
    """The number of recipients with a contact id up to `up_to` and above the previous chunk's `up_to`.

    Chunks are written together with the recipients. If a broadcast's chunks do not add up to its number of recipients,
    they say nothing about positions.
    """

    pk = models.CompositePrimaryKey("broadcast_id", "up_to")
    broadcast_id = models.BigIntegerField()
    up_to = models.BigIntegerField()
    number = models.IntegerField()

    def __str__(self) -> str:
        return f"recipients of broadcast {self.broadcast_id} up to contact {self.up_to}"


class Rate(models.Model):
    """The price of one delivered message from a day on, by its category and the recipient's market.

    `market` is a country code, or a rate card's name for several countries. The newest valid rate counts.
    """

    currency = models.CharField(max_length=3)
    category = models.CharField(max_length=40)
    market = models.CharField(max_length=60)
    valid_from = models.DateField()
    price = models.DecimalField(max_digits=12, decimal_places=6)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["currency", "category", "market", "valid_from"], name="rate_once_per_market_and_day"
            ),
            models.CheckConstraint(condition=Q(price__gte=0), name="rate_is_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.category} to {self.market} from {self.valid_from}: {self.price} {self.currency}"


class BilledCount(models.Model):
    """The number of a broadcast's messages that the provider billed in a month, by category and market."""

    broadcast_id = models.BigIntegerField()
    month = models.DateField()
    category = models.CharField(max_length=40)
    market = models.CharField(max_length=60, blank=True)
    is_billable = models.BooleanField()
    number = models.IntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["broadcast_id", "month", "category", "market", "is_billable"], name="billed_count_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.category} of broadcast {self.broadcast_id} in {self.month:%Y-%m}"


# A count is updated with each change, so nothing counts the rows.


class BroadcastCount(models.Model):
    """A part of a broadcast's counts, in one of several buckets, so that two writers do not wait for each other.

    The shown count is the sum of the buckets. Each number is a sum of differences, so a single bucket may be negative.
    """

    broadcast_id = models.BigIntegerField()
    bucket = models.SmallIntegerField()
    pending = models.IntegerField(default=0)
    sent = models.IntegerField(default=0)
    delivered = models.IntegerField(default=0)
    read = models.IntegerField(default=0)
    failed = models.IntegerField(default=0)
    skipped = models.IntegerField(default=0)
    held = models.IntegerField(default=0)
    clicked = models.IntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["broadcast_id", "bucket"], name="broadcast_count_once_per_bucket")
        ]

    def __str__(self) -> str:
        return f"counts of broadcast {self.broadcast_id}"


class FailureStreak(models.Model):
    """The number of a broadcast's messages in a row that failed with this code. A sent message removes the row."""

    broadcast_id = models.BigIntegerField(primary_key=True)
    code = models.CharField(max_length=100)
    number = models.IntegerField()

    def __str__(self) -> str:
        return f"{self.number} times {self.code} in broadcast {self.broadcast_id}"


class AudienceForecast(models.Model):
    """The counts so far of a broadcast's audience, as if it began at `starts_at`. The broadcast need not be saved.

    `draft` holds the broadcast's columns that decide who gets what, and `digest` identifies them. `found` counts the
    contacts up to the id `counted_up_to`; the count ends at the id `last_contact`. `walked` of `total` gives the same
    progress as numbers of people. `tries` is how often the next piece was begun. It returns to zero when a piece is
    counted.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+", db_index=False)
    digest = models.CharField(max_length=64)
    draft = models.JSONField()
    starts_at = models.DateTimeField()
    counted_up_to = models.BigIntegerField()
    last_contact = models.BigIntegerField()
    walked = models.IntegerField()
    total = models.IntegerField()
    found = models.JSONField()
    tries = models.SmallIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    worked_at = models.DateTimeField(default=timezone.now, editable=False)
    completed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "digest"], name="audience_forecast_once_per_draft")]
        indexes = [
            models.Index(fields=["worked_at"], condition=Q(completed_at=None), name="audience_forecast_unfinished"),
            models.Index(fields=["created_at"], name="audience_forecast_oldest"),
        ]

    def __str__(self) -> str:
        return f"forecast {self.pk} of workspace {self.workspace_id}"
