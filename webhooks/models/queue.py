"""The queue of deliveries, and the dispatchers' runs and shards."""

from django.db import models
from django.db.models import Case, F, Q, When
from django.db.models.lookups import IsNull

from config.db import CurrentTransaction
from config.leases.runs import QueueShard, WorkerRun
from webhooks.models.deliveries import Delivery

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
