"""The queue of deliveries and the record of their attempts.

These tables grow with every event. Their references to an event, an endpoint and a delivery are written by
statements that read those very rows, so the database does not check them a second time.
"""

import uuid
from typing import ClassVar, Self

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from agency.models import Agency, Event
from webhooks.models.endpoints import Endpoint


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def of(self, agency: Agency) -> Self:
        return self.filter(agency=agency)

    def newest(self, count: int) -> Self:
        return self.select_related("endpoint", "event").order_by("-id")[:count]


class Delivery(models.Model):
    """One envelope on its way to one endpoint.

    `status` is what people see; `stage` is where the work stands. `attempts` counts finished attempts, `leases` how
    often a courier took the row. `body` is set only where no event holds the envelope: on tests.
    """

    class Status(models.TextChoices):
        PENDING = "pending", "Pending"
        SUCCESS = "success", "Success"
        ERROR = "error", "Error"

    class Stage(models.IntegerChoices):
        DUE = 0
        LEASED = 1
        DONE = 2

    class Kind(models.TextChoices):
        AUTOMATIC = "automatic", "Automatic"
        TEST = "test", "Test"
        REDELIVERY = "redelivery", "Redelivery"

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    agency = models.ForeignKey(Agency, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False)
    endpoint = models.ForeignKey(
        Endpoint, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="deliveries"
    )
    event = models.ForeignKey(
        Event, null=True, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="deliveries"
    )
    event_name = models.CharField(max_length=60)
    envelope_id = models.UUIDField()
    body = models.BinaryField(null=True)
    kind = models.CharField(max_length=12, choices=Kind, default=Kind.AUTOMATIC)
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    stage = models.SmallIntegerField(choices=Stage, default=Stage.DUE)
    attempts = models.SmallIntegerField(default=0)
    max_attempts = models.SmallIntegerField(default=3)
    leases = models.SmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, default=timezone.now)
    lease_until = models.DateTimeField(null=True)
    lease_owner = models.BigIntegerField(null=True)
    response_status = models.SmallIntegerField(null=True)
    error = models.CharField(max_length=40, null=True)
    created_at = models.DateTimeField(default=timezone.now)
    completed_at = models.DateTimeField(null=True)

    objects: ClassVar[DeliveryQuerySet] = DeliveryQuerySet.as_manager()  # type: ignore[assignment]  # as Django documents it

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index(fields=["endpoint", "next_attempt_at"], condition=Q(stage=0), name="delivery_due"),
            models.Index(fields=["agency", "lease_until"], condition=Q(stage=1), name="delivery_leased"),
            models.Index(fields=["agency", "-id"], name="delivery_of_agency"),
            models.Index(fields=["endpoint", "-id"], name="delivery_of_endpoint"),
            models.Index(fields=["agency", "-id"], condition=Q(status="error"), name="delivery_failed"),
            models.Index(fields=["completed_at"], condition=Q(stage=2), name="delivery_done"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["event", "endpoint"], condition=Q(kind="automatic"), name="delivery_once_per_event"
            ),
            models.CheckConstraint(
                condition=Q(stage=1, lease_owner__isnull=False, lease_until__isnull=False)
                | (~Q(stage=1) & Q(lease_owner=None, lease_until=None)),
                name="delivery_lease_has_an_owner",
            ),
            models.CheckConstraint(
                condition=Q(stage=2, completed_at__isnull=False, status__in=["success", "error"])
                | (~Q(stage=2) & Q(completed_at=None, status="pending")),
                name="delivery_done_has_an_outcome",
            ),
            models.CheckConstraint(condition=Q(attempts__lte=F("max_attempts")), name="delivery_attempts_bounded"),
        ]

    def __str__(self) -> str:
        return f"{self.event_name} {self.envelope_id}"

    @property
    def test(self) -> bool:
        return self.kind == self.Kind.TEST

    @property
    def envelope(self) -> bytes:
        """The exact body that is sent."""
        if self.body is not None:
            return bytes(self.body)
        if self.event is None:
            raise ValueError("A delivery has an event or a body of its own.")
        return bytes(self.event.body)


class Attempt(models.Model):
    """What was sent and what came back; times in milliseconds, empty where the attempt did not get that far."""

    delivery = models.ForeignKey(
        Delivery, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="attempt_log"
    )
    number = models.SmallIntegerField()
    started_at = models.DateTimeField()
    duration_ms = models.FloatField()
    dns_ms = models.FloatField(null=True)
    connect_ms = models.FloatField(null=True)
    tls_ms = models.FloatField(null=True)
    first_byte_ms = models.FloatField(null=True)
    remote_address = models.CharField(max_length=45, null=True)
    request_headers = models.JSONField(default=dict)
    response_status = models.SmallIntegerField(null=True)
    response_headers = models.TextField(null=True)
    response_body = models.BinaryField(null=True)
    error = models.CharField(max_length=40, null=True)

    class Meta:
        indexes = [models.Index(fields=["delivery", "number"], name="attempt_of_delivery")]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.delivery_id}"
