"""Callbacks from providers, kept as they came until a reader has read them."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

# A body is given up after this many tries.
MOST_TRIES = 5


class ProviderNotice(models.Model):
    """A signed callback. The same body twice is one row; `digest` is its SHA-256.

    New notices are read together. `tries` counts the failed readings that included this one. After a failure it is read
    in a smaller batch, in the end alone, and not before `due_at`. After five tries it is given up. `fault` says what
    was wrong.
    """

    received_at = models.DateTimeField(default=timezone.now)
    digest = models.BinaryField(unique=True)
    body = models.BinaryField()
    tries = models.SmallIntegerField(default=0)
    due_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)
    fault = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["id"], condition=Q(read_at=None, tries=0), name="notice_new"),
            models.Index(
                fields=["tries", "due_at"], condition=Q(read_at=None, tries__gt=0), name="notice_to_read_again"
            ),
        ]

    def __str__(self) -> str:
        return f"notice {self.pk}"


class ReadingAttempt(models.Model):
    """The notices that a reader has begun to read together. The row is deleted when they are read.

    It is written before the reading and locked during it. A row that is not locked was left by a reader that died over
    these notices.
    """

    notices = ArrayField(models.BigIntegerField())
    begun_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"reading {self.pk}"
