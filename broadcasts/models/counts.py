"""How many recipients of a broadcast stand under each status: kept with each change, never counted."""

from django.db import models


class BroadcastCount(models.Model):
    """A part of a broadcast's counts; the sum of its buckets is what people see, so no two writers wait for each other.

    Each number is a sum of differences and may be negative in one bucket.
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
