"""A customer's workspace, which an agency calls a sub-account: its add-ons, its members and its API keys."""

import re
import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from django.conf import settings
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CharField, Lookup, Q, Value
from django.db.models.sql.compiler import SQLCompiler
from django.utils import timezone
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from agency.models import Addon, Agency, Plan, User
from agency.models.agencies import EXPIRES, APIKey
from config.db import like_pattern, name_key

if TYPE_CHECKING:
    _TextLookup = Lookup[str]
else:
    _TextLookup = Lookup


@CharField.register_lookup
class Like(_TextLookup):
    """A plain LIKE, which the trigram index serves. Django's `contains` would escape the pattern a second time."""

    lookup_name = "like"

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, tuple[str | int, ...]]:
        left, left_values = self.process_lhs(compiler, connection)
        right, right_values = self.process_rhs(compiler, connection)
        return f"{left} LIKE {right}", (*left_values, *right_values)


MOST_CHANNELS = 1_000
LONGEST_EXTERNAL_ID = 200
LONGEST_OWNER_KEY = 1_000
# The beginning of a uuid in a search: at least eight digits, because fewer may also be a word or a number.
UUID_PREFIX = re.compile(r"[0-9a-f]{8}[0-9a-f-]{0,28}")
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class BusinessType(models.TextChoices):
    SALON_SPA = "salon_spa", _("Salon or spa")
    CLINIC_WELLNESS = "clinic_wellness", _("Clinic or wellness")
    RETAIL_ECOMMERCE = "retail_ecommerce", _("Retail or e-commerce")
    RESTAURANT_CAFE = "restaurant_cafe", _("Restaurant or café")
    REAL_ESTATE = "real_estate", _("Real estate")
    AGENCY_CONSULTANCY = "agency_consultancy", _("Agency or consultancy")
    EDUCATION_COACHING = "education_coaching", _("Education or coaching")
    OTHER = "other", _("Other")


def owner_key(name: str, email: str) -> str:
    """Give the text that searches compare with: the owner's normalized name and e-mail, a line each."""
    return f"{name_key(name)}\n{name_key(email)}"


def uuid_prefix_range(fragment: str) -> tuple[uuid.UUID, uuid.UUID] | None:
    """Give the first and the last uuid that begin with the fragment, in any case; None if no uuid can."""
    text = fragment.strip().lower()
    digits = text.replace("-", "")
    if not UUID_PREFIX.fullmatch(text) or len(digits) > 32:
        return None
    first, last = uuid.UUID(digits.ljust(32, "0")), uuid.UUID(digits.ljust(32, "f"))
    return (first, last) if str(first).startswith(text) else None


def search_condition(fragment: str) -> Q:
    """Give the condition of a search: the name, the owner's name or the owner's e-mail contains the fragment.

    Case and Unicode form do not matter. At least eight digits also match uuids that begin with them, and a complete
    external id matches its sub-account.
    """
    pattern, uuids = like_pattern(name_key(fragment)), uuid_prefix_range(fragment)
    found = Q(name_key__like=pattern) | Q(owner_key__like=pattern) | Q(external_id=fragment.strip())
    return found | Q(uuid__range=uuids) if uuids else found


class WorkspaceQuerySet(models.QuerySet["Workspace"]):
    def of(self, agency: Agency) -> Self:
        """Keep the sub-accounts of one agency. Every query of a view begins here."""
        return self.filter(agency=agency)

    def owned_by(self, user: User) -> Self:
        """Keep the workspaces whose ownership the user has accepted."""
        return self.filter(owner=user, owner_pending_since=None)

    def of_person(self, user: User) -> Self:
        """Keep the workspaces that the user owns or is a member of."""
        owned = Workspace.objects.owned_by(user).order_by().values("pk")
        return self.filter(pk__in=owned.union(user.workspace_memberships.values("workspace"), all=True))

    def matching(self, fragment: str) -> Self:
        """Keep the workspaces that a search for the fragment finds."""
        return self.filter(search_condition(fragment))

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-id")


class Workspace(models.Model):
    """A workspace. `plan_limits` copies its plan's limits; `limits` is the sum of that copy and its add-ons' limits.

    `owner_name` and `owner_email` are as the agency sent them. While `owner_pending_since` is set, the owner has not
    accepted the workspace, or has declined or left it, and does not see it among their workspaces.
    `two_factor_required` closes the dashboard to people without two-factor. `opening_hours` names all seven days with
    their intervals: `{"monday": [["09:00", "17:00"]], …}`; it is empty until it is set. `former_agencies` maps the ids
    of earlier agencies to the times at which the workspace left them. `first_steps_hidden` hides the list of first
    steps on the dashboard's home page. `is_near_limit` says that it used four fifths of a limit at the last check.
    """

    class Status(models.TextChoices):
        ACTIVE = "active", _("Active")
        SUSPENDED = "suspended", _("Suspended")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, related_name="workspaces", db_index=False)
    former_agencies = models.JSONField(default=dict, db_default={}, editable=False)
    name = models.CharField(max_length=120)
    name_key = models.CharField(max_length=480, editable=False)
    status = models.CharField(max_length=10, choices=Status, default=Status.ACTIVE)
    suspended_at = models.DateTimeField(null=True, blank=True)
    suspension_reason = models.CharField(max_length=500, blank=True)
    restored_at = models.DateTimeField(null=True, blank=True, editable=False)
    plan = models.ForeignKey(Plan, null=True, blank=True, on_delete=models.PROTECT, related_name="workspaces")
    plan_limits = models.JSONField(null=True, blank=True)
    limits = models.JSONField()
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="owned_workspaces")
    owner_name = models.CharField(max_length=120)
    owner_email = models.EmailField()
    owner_key = models.CharField(max_length=LONGEST_OWNER_KEY, editable=False)
    owner_pending_since = models.DateTimeField(null=True, blank=True, editable=False)
    two_factor_required = models.BooleanField(default=False, db_default=False, editable=False)
    first_steps_hidden = models.BooleanField(default=False, db_default=False, editable=False)
    is_near_limit = models.BooleanField(default=False, db_default=False, editable=False)
    business_type = models.CharField(max_length=30, choices=BusinessType, null=True, blank=True)
    timezone = models.CharField(max_length=64, default="UTC")
    external_id = models.CharField(max_length=LONGEST_EXTERNAL_ID, null=True, blank=True)
    metadata = models.JSONField(default=dict, db_default=Value({}, models.JSONField()), blank=True)
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

    objects = WorkspaceQuerySet.as_manager()

    class Meta:
        verbose_name = "sub-account"
        constraints = [
            models.CheckConstraint(
                condition=Q(status="active", suspended_at=None) | Q(status="suspended", suspended_at__isnull=False),
                name="workspace_suspension_has_a_time",
            ),
            models.CheckConstraint(condition=~Q(name="") & ~Q(name_key=""), name="workspace_has_a_name"),
            models.CheckConstraint(condition=~Q(owner_key=""), name="workspace_owner_can_be_found"),
            models.CheckConstraint(condition=~Q(external_id=""), name="workspace_external_id_is_not_empty"),
            models.UniqueConstraint(
                # The id comes first, because a search joins this condition with others by OR, and the agency is
                # outside of that OR.
                fields=["external_id", "agency"],
                condition=Q(external_id__isnull=False),
                name="workspace_external_id_once_per_agency",
            ),
        ]
        indexes = [
            models.Index(fields=["agency", "-created_at", "-id"], name="workspace_newest"),
            models.Index(fields=["agency", "name_key", "id"], name="workspace_by_name"),
            models.Index(fields=["agency", "status", "-created_at", "-id"], name="workspace_by_status"),
            models.Index(fields=["agency", "plan", "-created_at", "-id"], name="workspace_by_plan"),
            models.Index(fields=["agency", "business_type", "-created_at", "-id"], name="workspace_by_business"),
            models.Index(fields=["agency", "owner_email", "-created_at", "-id"], name="workspace_by_owner_email"),
            models.Index(fields=["-suspended_at"], condition=Q(status="suspended"), name="workspace_suspended_last"),
            models.Index(
                fields=["agency", "-created_at", "-id"],
                condition=Q(owner_pending_since__isnull=False),
                name="workspace_without_owner",
            ),
            models.Index(
                fields=["agency", "-created_at", "-id"], condition=Q(is_near_limit=True), name="workspace_near_limit"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def granted_addons(self) -> list[Addon]:
        """The add-ons that it holds, oldest grant first, each with its limits at the time of the grant."""
        held = list(self.held_addons.select_related("addon").order_by("granted_at", "id"))
        for one in held:
            one.addon.limits = one.limits
        return [one.addon for one in held]

    @property
    def connected_channels(self) -> "models.QuerySet[Any]":
        """Its channels, oldest connection first; at most a thousand."""
        return self.channels.order_by("connected_at", "id")[:MOST_CHANNELS]

    @property
    def weekly_hours(self) -> dict[str, list[list[str]]]:
        """Its opening hours with all seven days, even if they are not set."""
        return {day: self.opening_hours.get(day, []) for day in DAYS}

    @property
    def is_active(self) -> bool:
        return self.status == self.Status.ACTIVE

    def agencies_since(self, moment: datetime) -> frozenset[int]:
        """Give the ids of the agencies that it has belonged to since then. Links sent since lead to their hosts."""
        left = self.former_agencies.items()
        former = (int(agency) for agency, until in left if datetime.fromisoformat(until) >= moment)
        return frozenset((self.agency_id, *former))


class HeldAddon(models.Model):
    """An add-on that a sub-account holds, with the add-on's limits at the time of the grant."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, db_index=False, related_name="held_addons")
    addon = models.ForeignKey(Addon, on_delete=models.PROTECT, related_name="held_by")
    limits = models.JSONField()
    granted_at = models.DateTimeField(default=now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "addon"], name="addon_held_once")]

    def __str__(self) -> str:
        return f"{self.addon} of {self.workspace}"


# Only a digest of each API key is stored.


class WorkspaceKey(APIKey):
    """An API key of a workspace. It outlives the workspace, so that the API can answer that the workspace is gone."""

    workspace = models.ForeignKey(Workspace, null=True, on_delete=models.SET_NULL, related_name="keys")

    class Meta:
        verbose_name = "workspace API key"
        indexes = [
            models.Index(fields=["prefix", "-id"], name="workspace_key_by_prefix"),
            models.Index(fields=["id"], condition=EXPIRES, name="workspace_key_that_expires"),
        ]


class WorkspaceMember(models.Model):
    """A person who works in a workspace that somebody else owns.

    The owner is named in `Workspace.owner` only. The services, under the workspace's lock, keep anyone from being both.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, db_index=False, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="workspace_memberships")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "user"], name="workspace_member_once")]

    def __str__(self) -> str:
        return f"{self.user} in {self.workspace}"
