"""An agency, which resells the service under its own brand, and the people who run it."""

import uuid
from typing import ClassVar, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.models.people.users import User


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

    objects: ClassVar[MemberQuerySet] = MemberQuerySet.as_manager()  # type: ignore[assignment]  # a manager has all of it

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
