"""The log of deliveries and their attempts, and the queue of pending deliveries.

The log's tables grow with every event, so they are partitioned by day (see `partitions`). Their foreign keys to
events, endpoints and deliveries have no database constraint, because the inserting statements read those rows
themselves. No index has a column that a successful delivery changes, so its one update stays on the row's page (HOT).
"""

import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Self

from django.core.exceptions import ObjectDoesNotExist
from django.db import models
from django.db.models import Case, F, Q, When
from django.db.models.lookups import IsNull
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.models import Agency, Event
from agency.tenants import Tenant
from config.db import CurrentTransaction
from config.leases.runs import QueueShard, WorkerRun
from webhooks.models.endpoints import Endpoint
from webhooks.models.partitions import A_DAY, first_id
from webhooks.signing import Signature, headers

_OWN = Q(workspace_id__isnull=True)
_OF_WORKSPACE = Q(workspace_id__isnull=False)
_FAILED = Q(failed_at__isnull=False)


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def of(self, agency: Agency) -> Self:
        """Keep the agency's own deliveries, without those of its workspaces."""
        return self.of_tenant(Tenant(agency.pk))

    def of_tenant(self, tenant: Tenant) -> Self:
        """Keep an agency's own deliveries, or all of a workspace, also from its time with another agency."""
        if tenant.workspace_id is not None:
            return self.filter(workspace_id=tenant.workspace_id)
        return self.filter(agency_id=tenant.agency_id, workspace_id=None)

    def with_uuid(self, uuid: uuid.UUID) -> "Delivery | None":
        """Return the delivery with this public id, or None. The last two days are searched first."""
        recent, older = self._by_age()
        return recent.filter(uuid=uuid).first() or older.filter(uuid=uuid).first()

    def _by_age(self) -> tuple[Self, Self]:
        """Return the rows since yesterday and the older ones. Our clock may be a day off the database's."""
        day = timezone.now().date()
        yesterday, end = first_id(day - A_DAY), first_id(day + 2 * A_DAY)
        return self.filter(id__gte=yesterday, id__lt=end), self.filter(id__lt=yesterday)


class Delivery(models.Model):
    """The delivery of one envelope to one endpoint. While it is pending, a `QueuedDelivery` has its due time and run.

    `workspace_id` is set for a workspace's own deliveries. `workspace_uuid` is the workspace that the event is about.
    `attempts` counts finished attempts. Tests and redeliveries hold the envelope in `body`; other deliveries read it
    from their event. The database generates the primary key, which contains the day. In each day's partition `uuid` is
    unique. For automatic deliveries the pair of event and endpoint is unique too, because an event is fanned out once,
    under its row's lock.
    """

    class Status(models.TextChoices):
        PENDING = "pending", _("Pending")
        SUCCESS = "success", _("Delivered")
        ERROR = "error", _("Failed")

    class Kind(models.TextChoices):
        AUTOMATIC = "automatic", _("Automatic")
        TEST = "test", _("Test")
        REDELIVERY = "redelivery", _("Redelivery")

    uuid = models.UUIDField(default=uuid.uuid4, editable=False)
    agency = models.ForeignKey(Agency, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False)
    workspace_id = models.BigIntegerField(null=True)
    workspace_uuid = models.UUIDField(null=True)
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
    attempts = models.SmallIntegerField(default=0)
    max_attempts = models.SmallIntegerField(default=3)
    response_status = models.SmallIntegerField(null=True)
    error = models.CharField(max_length=40, null=True)
    created_at = models.DateTimeField(default=timezone.now)
    completed_at = models.DateTimeField(null=True)
    failed_at = models.DateTimeField(null=True)

    if TYPE_CHECKING:
        queued: "QueuedDelivery"

    # As Django documents it.
    objects = DeliveryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index(fields=["endpoint", "-id"], name="delivery_of_endpoint"),
            models.Index(fields=["envelope_id", "endpoint"], condition=~Q(kind="automatic"), name="delivery_again"),
            # Each row is in either the agency's or the workspace's index, so two indexes cost no more than one.
            models.Index(fields=["agency", "-id"], condition=_OWN, name="delivery_of_agency"),
            models.Index(fields=["workspace_id", "-id"], condition=_OF_WORKSPACE, name="delivery_of_workspace"),
            models.Index(fields=["agency", "event_name", "-id"], condition=_OWN, name="delivery_of_event_name"),
            models.Index(
                fields=["workspace_id", "event_name", "-id"],
                condition=_OF_WORKSPACE,
                name="delivery_of_workspace_event",
            ),
            models.Index(fields=["agency", "-id"], condition=_FAILED & _OWN, name="delivery_failed"),
            models.Index(
                fields=["workspace_id", "-id"], condition=_FAILED & _OF_WORKSPACE, name="delivery_of_workspace_failed"
            ),
            models.Index(fields=["endpoint", "-id"], condition=_FAILED, name="delivery_failed_of_endpoint"),
            models.Index(
                fields=["agency", "event_name", "-id"], condition=_FAILED & _OWN, name="delivery_failed_of_event_name"
            ),
            models.Index(
                fields=["agency", "workspace_uuid", "-id"],
                condition=_OWN & Q(workspace_uuid__isnull=False),
                name="delivery_about_workspace",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(status="pending", completed_at=None, failed_at=None)
                | Q(status="success", completed_at__isnull=False, failed_at=None)
                | Q(status="error", completed_at__isnull=False, failed_at__isnull=False),
                name="delivery_ended_has_an_outcome",
            ),
            models.CheckConstraint(
                condition=Q(attempts__gte=0, attempts__lte=F("max_attempts")), name="delivery_attempts_bounded"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event_name} {self.envelope_id}"

    @property
    def test(self) -> bool:
        return self.kind == self.Kind.TEST

    @property
    def attempts_in_order(self) -> "models.QuerySet[Attempt]":
        """The attempts, first one first."""
        return self.attempt_log.order_by("number")

    @property
    def next_attempt_at(self) -> datetime | None:
        """The due time while the delivery is pending, else None."""
        try:
            return self.queued.due_at if self.status == self.Status.PENDING else None
        except ObjectDoesNotExist:
            return None

    @property
    def envelope(self) -> bytes:
        """The exact body that is sent."""
        if self.body is not None:
            return bytes(self.body)
        if self.event is None:
            raise ValueError("A delivery has an event or a body of its own.")
        return bytes(self.event.body)


class Attempt(models.Model):
    """One attempt's request and response. Times are in milliseconds, or None if the attempt did not get that far.

    Of the request's headers only the signatures and their time are stored (see `Signature`); the others follow from the
    delivery. `signature` is None if nothing was sent.
    """

    pk = models.CompositePrimaryKey("delivery_id", "number")
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
    url = models.CharField(max_length=2048)
    remote_address = models.CharField(max_length=45, null=True)
    signature = models.BinaryField(null=True)
    response_status = models.SmallIntegerField(null=True)
    response_headers = models.TextField(null=True)
    response_body = models.BinaryField(null=True)
    error = models.CharField(max_length=40, null=True)

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.delivery_id}"

    @property
    def request_headers(self) -> dict[str, str]:
        """The headers of the request, or {} if nothing was sent."""
        if self.signature is None:
            return {}
        delivery = self.delivery
        named = headers(
            event=delivery.event_name,
            envelope_id=str(delivery.envelope_id),
            signature=Signature.unpack(bytes(self.signature)),
            is_for_workspace=delivery.workspace_id is not None,
        )
        return dict(named)


# The position of a ready delivery, else NULL. Only one index has this expression. With statistics from a time when
# nothing was ready, or when one endpoint had most rows, the planner could not tell the indexes of ready rows apart.
READY_AT = Case(When(is_ready=True, then=F("position")))


class QueuedDelivery(models.Model):
    """A pending delivery. The row is removed when the delivery ends.

    `is_ready` means that `due_at` has come. `position` is the transaction that made it ready (see
    `config.leases.backlog`). `run` is the dispatcher's run that leased it, `lost_leases` how often such a run
    died. A suspect was leased to several dispatchers that died. It is leased in a small group, in the end alone, so
    that no other delivery's dispatcher dies with it.

    `waits_long` means that it waits longer than standard retries do: for a later attempt or, if it `is_held`, until its
    agency is no longer suspended.

    A lease changes only `run`, which no index has, so the new row version stays on its page (HOT).
    """

    delivery = models.OneToOneField(
        Delivery, primary_key=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="queued"
    )
    agency_id = models.BigIntegerField()
    workspace_id = models.BigIntegerField(null=True)
    endpoint_id = models.BigIntegerField()
    due_at = models.DateTimeField()
    is_ready = models.BooleanField(default=True)
    is_suspect = models.BooleanField(default=False)
    waits_long = models.BooleanField(db_default=False, default=False)
    is_held = models.BooleanField(db_default=False, default=False)
    run = models.BigIntegerField(null=True)
    lost_leases = models.SmallIntegerField(default=0)
    position = models.BigIntegerField(db_default=CurrentTransaction())

    class Meta:
        verbose_name_plural = "queued deliveries"
        indexes = [
            models.Index(
                fields=["endpoint_id", "position", "delivery"], condition=Q(is_ready=True), name="queued_ready"
            ),
            models.Index(READY_AT, condition=Q(IsNull(READY_AT, False)), name="queued_new"),
            models.Index(
                fields=["waits_long", "due_at"], condition=Q(is_ready=False, is_suspect=False), name="queued_waiting"
            ),
            models.Index(fields=["agency_id"], condition=Q(is_held=True), name="queued_held"),
            models.Index(fields=["endpoint_id"], condition=Q(is_ready=False), name="queued_not_ready"),
            models.Index(fields=["lost_leases", "due_at"], condition=Q(is_suspect=True), name="queued_suspect"),
        ]
        constraints = [
            models.CheckConstraint(condition=~Q(is_ready=True, is_suspect=True), name="queued_suspect_is_not_ready"),
            models.CheckConstraint(condition=~Q(is_held=True, is_ready=True), name="queued_held_is_not_ready"),
            models.CheckConstraint(condition=Q(lost_leases__gte=0), name="queued_lost_leases_counted"),
        ]

    def __str__(self) -> str:
        return f"delivery {self.delivery_id}, due at {self.due_at}"


class DispatcherRun(WorkerRun):
    """A run of a dispatcher."""


class EndpointShard(QueueShard):
    """A shard of all endpoints, and of all agencies' events. One dispatcher at a time serves it."""
