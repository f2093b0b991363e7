"""An agency, which resells the service under its own brand: its people, keys, plans and add-ons; and the switches."""

import uuid
from typing import Any, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.models.users import User
from config.api.keys import LONGEST_NETWORK


class Agency(models.Model):
    """The tenant. A database trigger keeps `sub_account_count`; the code never writes it.

    `language` is the language of its pages and e-mails; empty means that of each reader's browser. `two_factor_roles`
    are the console roles that must use two-factor.
    """

    class Status(models.TextChoices):
        ACTIVE = "active", _("Active")
        SUSPENDED = "suspended", _("Suspended")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=120)
    name_key = models.CharField(max_length=480, editable=False)
    status = models.CharField(max_length=10, choices=Status, default=Status.ACTIVE, editable=False)
    suspended_at = models.DateTimeField(null=True, blank=True, editable=False)
    suspension_reason = models.CharField(max_length=500, blank=True, editable=False)
    restored_at = models.DateTimeField(null=True, blank=True, editable=False)
    max_sub_accounts = models.PositiveIntegerField(null=True, blank=True, help_text="Empty means no limit.")
    sub_account_count = models.IntegerField(default=0, editable=False)
    two_factor_roles = ArrayField(
        models.CharField(max_length=10), default=list, db_default=[], blank=True, editable=False
    )
    language = models.CharField(max_length=10, blank=True, db_default="", choices=settings.LANGUAGES, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "agencies"
        constraints = [
            models.UniqueConstraint(fields=["name_key"], name="agency_name_is_unique"),
            models.CheckConstraint(
                condition=Q(two_factor_roles__contained_by=["owner", "admin", "viewer"]),
                name="agency_two_factor_roles_are_known",
            ),
            models.CheckConstraint(condition=Q(sub_account_count__gte=0), name="agency_count_is_not_negative"),
            models.CheckConstraint(
                condition=Q(status="active", suspended_at=None) | Q(status="suspended", suspended_at__isnull=False),
                name="agency_suspension_has_a_time",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_active(self) -> bool:
        return self.status == self.Status.ACTIVE


class MemberQuerySet(models.QuerySet["Member"]):
    def of_person(self, user: User, agency_id: int | None) -> Self:
        """Return a person's memberships; with `agency_id`, as on that agency's host, only the one there."""
        own = self.filter(user=user)
        return own if agency_id is None else own.filter(agency=agency_id)


class Member(models.Model):
    """A person's role in an agency's console."""

    class Role(models.TextChoices):
        OWNER = "owner", _("Owner")
        ADMIN = "admin", _("Admin")
        VIEWER = "viewer", _("Viewer")

    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, db_index=False, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = MemberQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agency", "user"], name="member_once_per_agency"),
            models.CheckConstraint(condition=Q(role__in=["owner", "admin", "viewer"]), name="member_role_is_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"

    @property
    def may_change_things(self) -> bool:
        return self.role in {self.Role.OWNER, self.Role.ADMIN}


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

    objects = KeyQuerySet.as_manager()

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
    can_make_keys = models.BooleanField(default=False, verbose_name="may create API keys for sub-accounts")

    class Meta:
        verbose_name = "agency API key"
        indexes = [models.Index(fields=["id"], condition=EXPIRES, name="agency_key_that_expires")]


class CatalogueItem(models.Model):
    """A plan or an add-on; `limits` has the form that `agency.limits` describes.

    Archived items can no longer be assigned.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=120)
    name_key = models.CharField(max_length=480, editable=False)
    description = models.CharField(max_length=500, blank=True)
    limits = models.JSONField()
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


class Plan(CatalogueItem):
    """A base plan; a sub-account has one or none. New sub-accounts get the default plan if none is named."""

    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, related_name="plans")
    is_default = models.BooleanField(default=False, db_default=False, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["agency"], condition=Q(is_default=True), name="plan_one_default_per_agency"
            ),
            models.CheckConstraint(
                condition=Q(is_default=False) | Q(archived_at=None), name="plan_default_is_not_archived"
            ),
            models.UniqueConstraint(
                fields=["agency", "name_key"], condition=Q(archived_at=None), name="plan_name_once_per_agency"
            ),
        ]


class Addon(CatalogueItem):
    """An add-on; a sub-account may hold any number of add-ons, each once."""

    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, related_name="addons")

    class Meta:
        verbose_name = "add-on"
        constraints = [
            models.UniqueConstraint(
                fields=["agency", "name_key"], condition=Q(archived_at=None), name="addon_name_once_per_agency"
            )
        ]


class Switch(models.Model):
    """One switch; a missing row means on."""

    class Name(models.TextChoices):
        AGENCY_API = "agency_api", _("Reseller API")
        WORKSPACE_API = "workspace_api", _("Workspace API")

    name = models.CharField(max_length=40, primary_key=True, choices=Name)
    enabled = models.BooleanField(default=True)
    reason = models.CharField(max_length=500, blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "switches"

    def __str__(self) -> str:
        return f"{self.get_name_display()}: {'on' if self.enabled else 'off'}"
