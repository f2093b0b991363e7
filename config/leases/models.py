"""Abstract models of the tables that every leased queue has."""

from django.db import models


class WorkerRun(models.Model):
    """A worker process at work on a queue, and when it was last seen.

    Its leases hold for as long as it is seen. A live run also holds an advisory lock on its number. An ending run
    finishes what it has and takes no new work. From `lost_at` on, the run's leases are being freed.
    """

    number = models.BigIntegerField(primary_key=True)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    is_ending = models.BooleanField(default=False, db_default=False)
    lost_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"run {self.number}"


class QueueShard(models.Model):
    """A share of a queue's keys, and the run that serves it. A shard is free if its run is gone."""

    number = models.SmallIntegerField(primary_key=True)
    run = models.BigIntegerField(null=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"shard {self.number}"
