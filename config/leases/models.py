"""What the tables of every leased queue have in common."""

from django.db import models
from django.db.models import F, Q


class WorkerRun(models.Model):
    """A worker process at work on a queue, and when it was seen last.

    Its leases hold for as long as it is seen. A live one also holds an advisory lock on its number.
    """

    number = models.BigIntegerField(primary_key=True)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(condition=Q(seen_at__gte=F("started_at")), name="%(class)s_seen_after_start")
        ]

    def __str__(self) -> str:
        return f"run {self.number}"
