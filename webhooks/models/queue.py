"""The queue: what is still to be delivered, and which dispatchers are at work."""

from django.db import models
from django.db.models import Case, F, Q, When
from django.db.models.lookups import IsNull

from config.db import CurrentTransaction
from config.leases.models import QueueShard, WorkerRun
from webhooks.models.deliveries import Delivery

# The place of a delivery that is ready, none of another. As an expression it has an index to itself: by statistics of a
# time when nothing was ready, or one endpoint had most of it, all indexes of what is ready seem the same.
READY_AT = Case(When(is_ready=True, then=F("position")))


class QueuedDelivery(models.Model):
    """A delivery that is still to be made; it is removed when the delivery ends.

    `is_ready` says that `due_at` has come, and `position` which transaction made it ready (see
    `config.leases.transactions`). `run` is the number of the dispatcher's run that has leased it, `lost_leases` how
    often that run died. A suspect was leased to several dispatchers that died; it is taken up in a small group, in the
    end alone, so that nothing else dies with it.

    `waits_long` says that it waits for longer than standard retries do: for a later attempt, or, if it `is_held`, until
    its agency is no longer suspended.

    A lease changes `run` alone, which no index names: the new version of the row stays on its page.
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
    """A dispatcher at work."""


class EndpointShard(QueueShard):
    """A share of all endpoints, and of all agencies' events, served by one dispatcher at a time."""
