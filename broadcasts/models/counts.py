"""The number of a broadcast's recipients in each status. It is updated with each change, so nothing counts the rows."""

from django.db import models


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
