"""The queue: what is still to be delivered, and which couriers are at work."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from webhooks.models.deliveries import Delivery


class Errand(models.Model):
    """A delivery that is still to be made; it is removed when the delivery ends.

    `is_ready` says that `due_at` has come. `shift` is the number of the courier's shift that has leased it, and
    `leases` how often that happened without an end. A suspect was in the hand of several couriers that died; it is
    taken up in a small group, in the end alone, so that nothing else dies with it.
    """

    delivery = models.OneToOneField(
        Delivery, primary_key=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="errand"
    )
    agency_id = models.BigIntegerField()
    endpoint_id = models.BigIntegerField()
    due_at = models.DateTimeField()
    is_ready = models.BooleanField(default=True)
    is_suspect = models.BooleanField(default=False)
    shift = models.BigIntegerField(null=True)
    leases = models.SmallIntegerField(default=0)

    class Meta:
        indexes = [
            models.Index(fields=["endpoint_id", "due_at"], condition=Q(is_ready=True), name="errand_ready"),
            models.Index(fields=["due_at"], condition=Q(is_ready=False, is_suspect=False), name="errand_waiting"),
            models.Index(fields=["endpoint_id"], condition=Q(is_ready=False), name="errand_not_ready"),
            models.Index(fields=["leases", "due_at"], condition=Q(is_suspect=True), name="errand_suspect"),
        ]
        constraints = [
            models.CheckConstraint(condition=~Q(is_ready=True, is_suspect=True), name="errand_suspect_is_not_ready"),
            models.CheckConstraint(condition=Q(leases__gte=0), name="errand_leases_counted"),
        ]

    def __str__(self) -> str:
        return f"errand of {self.delivery_id}"


class Shift(models.Model):
    """A courier at work: when it was seen last, and the agencies that it delivers for.

    Its leases hold for as long as it is seen. A live courier also holds an advisory lock on its number.
    """

    number = models.BigIntegerField(primary_key=True)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    agencies = ArrayField(models.BigIntegerField(), default=list)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(seen_at__gte=F("started_at")), name="shift_seen_after_start")]

    def __str__(self) -> str:
        return f"shift {self.number}"
