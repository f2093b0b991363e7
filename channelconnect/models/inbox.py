"""What providers send us, kept as it came until somebody has read it."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

# A body that was tried so often is left alone.
MOST_TRIES = 5


class ProviderNotice(models.Model):
    """One signed callback; the same body twice is one row (`digest` is its SHA-256).

    New ones are read together. `tries` counts the readings that this one was part of and that failed: it is tried in
    smaller company then, in the end alone, no earlier than at `due_at`, and left alone after five. `fault` says what
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
    """Which notices a reader has begun to read together; gone with their being read.

    It is written before the reading and locked during it: one that nobody has locked was left behind by a reader that
    died over these notices.
    """

    notices = ArrayField(models.BigIntegerField())
    begun_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"reading {self.pk}"
