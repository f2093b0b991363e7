"""Broadcasts whose last messages all failed in the same way."""

from django.db import models


class FailureStreak(models.Model):
    """So many messages of a broadcast have failed with this code in a row; one that is sent takes the row away."""

    broadcast_id = models.BigIntegerField(primary_key=True)
    code = models.CharField(max_length=100)
    number = models.IntegerField()

    def __str__(self) -> str:
        return f"{self.number} times {self.code} in broadcast {self.broadcast_id}"
