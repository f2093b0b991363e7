"""API keys of an agency: only a digest is kept."""

import uuid

from django.db import models
from django.utils import timezone

from agency.models.agencies import Agency


class AgencyKey(models.Model):
    """`key_hash` is the key's SHA-256 (32 bytes, checked in the database); `prefix` its first 12 characters."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, related_name="keys")
    name = models.CharField(max_length=120)
    key_hash = models.BinaryField(unique=True)
    prefix = models.CharField(max_length=12)
    can_copy = models.BooleanField(default=False, verbose_name="may copy automations out of sub-accounts")
    created_by = models.CharField(max_length=254, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        verbose_name = "agency API key"

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"
