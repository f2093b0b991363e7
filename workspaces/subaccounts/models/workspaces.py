"""A customer's workspace, which an agency calls a sub-account."""

import uuid
from typing import TYPE_CHECKING, Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import CharField, Lookup, Q
from django.utils.timezone import now

from agency.models import Addon, Agency, Plan
from config.db import like_pattern, name_key

if TYPE_CHECKING:
    _TextLookup = Lookup[str]
else:
    _TextLookup = Lookup


@CharField.register_lookup
class Like(_TextLookup):
    """A plain LIKE, which the trigram index serves; Django's own `contains` would escape the pattern again."""

    lookup_name = "like"

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        left, left_values = self.process_lhs(compiler, connection)
        right, right_values = self.process_rhs(compiler, connection)
        return f"{left} LIKE {right}", (*left_values, *right_values)


MOST_CHANNELS = 1_000
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class BusinessType(models.TextChoices):
    SALON_SPA = "salon_spa", "Salon or spa"
    CLINIC_WELLNESS = "clinic_wellness", "Clinic or wellness"
    RETAIL_ECOMMERCE = "retail_ecommerce", "Retail or e-commerce"
    RESTAURANT_CAFE = "restaurant_cafe", "Restaurant or café"
    REAL_ESTATE = "real_estate", "Real estate"
    AGENCY_CONSULTANCY = "agency_consultancy", "Agency or consultancy"
    EDUCATION_COACHING = "education_coaching", "Education or coaching"
    OTHER = "other", "Other"


class WorkspaceQuerySet(models.QuerySet["Workspace"]):
    def of(self, agency: Agency) -> Self:
        """Keep the sub-accounts of one agency: where every query of a view begins."""
        return self.filter(agency=agency)

    def named_like(self, fragment: str) -> Self:
        """Keep those whose name holds the fragment, whatever its case and Unicode form."""
        return self.filter(name_key__like=like_pattern(name_key(fragment)))

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")


class Workspace(models.Model):
    """Holds its own copy of its plan's limits; `limits` is the sum of that copy and those of its add-ons.

    `opening_hours` names all seven days, each with its intervals: `{"monday": [["09:00", "17:00"]], …}`; it is empty
    until it has been set.
    """

    class Status(models.TextChoices):
        ACTIVE = "active", "Active"
        SUSPENDED = "suspended", "Suspended"

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, related_name="workspaces", db_index=False)
    name = models.CharField(max_length=120)
    name_key = models.CharField(max_length=480, editable=False)
    status = models.CharField(max_length=10, choices=Status, default=Status.ACTIVE)
    suspended_at = models.DateTimeField(null=True, blank=True)
    suspension_reason = models.CharField(max_length=500, blank=True)
    plan = models.ForeignKey(Plan, null=True, blank=True, on_delete=models.PROTECT, related_name="workspaces")
    plan_limits = models.JSONField(null=True, blank=True)
    limits = models.JSONField()
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="owned_workspaces")
    owner_name = models.CharField(max_length=120)
    owner_email = models.EmailField()
    business_type = models.CharField(max_length=30, choices=BusinessType, null=True, blank=True)
    timezone = models.CharField(max_length=64, default="UTC")
    currency = models.CharField(max_length=3, default="USD", db_default="USD")
    opening_hours = models.JSONField(default=dict, db_default={})
    address = models.CharField(max_length=500, blank=True, db_default="")
    phone = models.CharField(max_length=40, blank=True, db_default="")
    email = models.CharField(max_length=254, blank=True, db_default="")
    website = models.CharField(max_length=500, blank=True, db_default="")
    booking_link = models.CharField(max_length=500, blank=True, db_default="")
    review_link = models.CharField(max_length=500, blank=True, db_default="")
    menu_link = models.CharField(max_length=500, blank=True, db_default="")
    created_at = models.DateTimeField(default=now, editable=False)

    objects: ClassVar[Any] = WorkspaceQuerySet.as_manager()

    class Meta:
        verbose_name = "sub-account"
        constraints = [
            models.CheckConstraint(
                condition=Q(status="active", suspended_at=None) | Q(status="suspended", suspended_at__isnull=False),
                name="workspace_suspension_has_a_time",
            ),
            models.CheckConstraint(condition=~Q(name="") & ~Q(name_key=""), name="workspace_has_a_name"),
        ]
        indexes = [
            models.Index(fields=["agency", "-created_at", "-id"], name="workspace_newest"),
            models.Index(fields=["agency", "status", "-created_at", "-id"], name="workspace_by_status"),
            models.Index(fields=["agency", "plan", "-created_at", "-id"], name="workspace_by_plan"),
            models.Index(fields=["agency", "business_type", "-created_at", "-id"], name="workspace_by_business"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def granted_addons(self) -> list[Addon]:
        """The add-ons that it holds, in the order in which they were granted."""
        held = self.held_addons.select_related("addon").order_by("granted_at", "id")
        return [one.addon for one in held]

    @property
    def connected_channels(self) -> "models.QuerySet[Any]":
        """Its channels, the oldest first; at most a thousand."""
        channels: models.QuerySet[Any] = self.channels.order_by("connected_at", "id")
        return channels[:MOST_CHANNELS]

    @property
    def weekly_hours(self) -> dict[str, list[list[str]]]:
        """Its opening hours with all seven days, whether they were set or not."""
        return {day: self.opening_hours.get(day, []) for day in DAYS}

    @property
    def is_active(self) -> bool:
        return self.status == self.Status.ACTIVE


class HeldAddon(models.Model):
    """An add-on that a sub-account holds, with the limits as they were when it was granted."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, db_index=False, related_name="held_addons")
    addon = models.ForeignKey(Addon, on_delete=models.PROTECT, related_name="held_by")
    limits = models.JSONField()
    granted_at = models.DateTimeField(default=now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "addon"], name="addon_held_once")]

    def __str__(self) -> str:
        return f"{self.addon} of {self.workspace}"
