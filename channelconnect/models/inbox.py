"""What providers send us, kept as it came until somebody has read it."""

from django.db import models
from django.db.models import Q
from django.utils import timezone


class ProviderNotice(models.Model):
    """One signed callback; the same body twice is one row (`digest` is its SHA-256).

    `tries` is counted before each reading, so that a body that breaks its reader is left alone in the end.
    """

    received_at = models.DateTimeField(default=timezone.now)
    digest = models.BinaryField(unique=True)
    body = models.BinaryField()
    tries = models.SmallIntegerField(default=0)
    read_at = models.DateTimeField(null=True)
    fault = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [models.Index(fields=["id"], condition=Q(read_at=None), name="notice_to_read")]

    def __str__(self) -> str:
        return f"notice {self.pk}"
