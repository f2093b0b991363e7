"""Broadcasts whose latest messages all failed with the same error."""

from django.db import models


class FailureStreak(models.Model):
    """The number of a broadcast's messages in a row that failed with this code. A sent message removes the row."""

    broadcast_id = models.BigIntegerField(primary_key=True)
    code = models.CharField(max_length=100)
    number = models.IntegerField()

    def __str__(self) -> str:
        return f"{self.number} times {self.code} in broadcast {self.broadcast_id}"
