"""What the tables of every leased queue have in common."""

from django.db import models


class WorkerRun(models.Model):
    """A worker process at work on a queue, and when it was seen last.

    Its leases hold for as long as it is seen. A live one also holds an advisory lock on its number. One that is ending
    finishes what it has and has no part in new work. From `lost_at` on what it had leased is being freed.
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
    """A share of a queue's keys, and the run that serves it; that of a run that is gone is free."""

    number = models.SmallIntegerField(primary_key=True)
    run = models.BigIntegerField(null=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"shard {self.number}"
