"""API keys of an agency, and the base of all tenants' keys; only a digest of a key is kept."""

import uuid
from typing import Any, ClassVar, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from agency.models.agencies import Agency
from config.api.keys import LONGEST_NETWORK

EXPIRES = Q(revoked_at=None, expires_at__isnull=False, replaced_by=None)


class KeyQuerySet(models.QuerySet[Any]):
    def live(self) -> Self:
        """Return the keys that are neither revoked nor, by the database's clock, expired."""
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=Now()), revoked_at=None)


class APIKey(models.Model):
    """A key with which programs call; `key_hash` is its SHA-256 (32 bytes), `prefix` its first 12 characters.

    It works from `allowed_networks`, or from anywhere if that is empty, until `expires_at` if that is set. A rolled key
    is `replaced_by` its successor.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=120)
    key_hash = models.BinaryField(unique=True)
    prefix = models.CharField(max_length=12)
    created_by = models.CharField(max_length=254, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True, editable=False)
    allowed_networks = ArrayField(
        models.CharField(max_length=LONGEST_NETWORK), default=list, blank=True, editable=False
    )
    replaced_by = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="replaces")

    objects: ClassVar[KeyQuerySet] = KeyQuerySet.as_manager()  # type: ignore[assignment]  # as Django documents it

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def is_live(self) -> bool:
        return self.revoked_at is None and not self.is_expired

    @property
    def state(self) -> str:
        """Whether the key works, in one word for support."""
        if self.revoked_at:
            return "revoked"
        return "expired" if self.is_expired else "live"


class AgencyKey(APIKey):
    """A key of the agency's own systems."""

    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, related_name="keys")
    can_copy = models.BooleanField(default=False, verbose_name="may copy automations out of sub-accounts")
    can_make_keys = models.BooleanField(default=False, verbose_name="may make API keys of sub-accounts")

    class Meta:
        verbose_name = "agency API key"
        indexes = [models.Index(fields=["id"], condition=EXPIRES, name="agency_key_that_expires")]
