"""Invitations, each to an e-mail address; its person belongs nowhere and sees nothing until they accept."""

import uuid
from datetime import datetime
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.models.agencies import Agency, Member

# The role of a person who is invited to work in a workspace. An invitation to own a workspace has no role.
WORKSPACE_MEMBER = "member"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def waiting(self) -> Self:
        """Return the invitations that are neither answered nor withdrawn, including expired ones."""
        return self.filter(status=Invitation.Status.OPEN)

    def answerable(self, now: datetime) -> Self:
        return self.waiting().filter(expires_at__gt=now)

    def to_team(self, agency: Agency) -> Self:
        return self.filter(agency=agency, workspace_uuid=None)

    def to_own(self, workspace_uuid: uuid.UUID) -> Self:
        """Return the invitations to own a workspace."""
        return self.filter(workspace_uuid=workspace_uuid, role="")

    def to_work_in(self, workspace_uuid: uuid.UUID) -> Self:
        """Return the invitations to work in a workspace."""
        return self.filter(workspace_uuid=workspace_uuid, role=WORKSPACE_MEMBER)


class Invitation(models.Model):
    """An invitation to an agency's team with a `role`, to work in a workspace as a member, or to own it without a role.

    `email` is what was written; whether it has an account stays unknown to the inviter until its person accepts.
    """

    class Status(models.TextChoices):
        OPEN = "open", _("Waiting for an answer")
        ACCEPTED = "accepted", _("Accepted")
        DECLINED = "declined", _("Declined")
        WITHDRAWN = "withdrawn", _("Withdrawn")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, db_index=False, related_name="invitations")
    workspace_uuid = models.UUIDField(null=True, blank=True, editable=False)
    email = models.EmailField()
    name = models.CharField(max_length=120, blank=True)
    role = models.CharField(max_length=10, choices=Member.Role, blank=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN, editable=False)
    invited_by = models.CharField(max_length=254, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(editable=False)
    ended_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects: ClassVar[InvitationQuerySet] = InvitationQuerySet.as_manager()  # type: ignore[assignment]  # as Django documents it

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["agency", "email"],
                condition=Q(status="open", workspace_uuid=None),
                name="invitation_open_once_per_address",
            ),
            models.UniqueConstraint(
                fields=["workspace_uuid"],
                condition=Q(status="open", role=""),
                name="invitation_open_once_per_workspace",
            ),
            models.UniqueConstraint(
                fields=["workspace_uuid", "email"],
                condition=Q(status="open", role="member"),
                name="invitation_open_once_per_person",
            ),
            models.CheckConstraint(
                condition=Q(workspace_uuid=None, role__in=["owner", "admin", "viewer"])
                | Q(workspace_uuid__isnull=False, role__in=["", "member"]),
                name="invitation_is_to_a_team_or_a_workspace",
            ),
            models.CheckConstraint(
                condition=Q(status="open", ended_at=None)
                | Q(status__in=["accepted", "declined", "withdrawn"], ended_at__isnull=False),
                name="invitation_end_has_a_time",
            ),
        ]
        indexes = [
            models.Index(fields=["email"], condition=Q(status="open"), name="invitation_of_address"),
            models.Index(fields=["workspace_uuid", "-id"], name="invitation_of_workspace"),
            models.Index(fields=["agency", "-id"], name="invitation_of_agency"),
            models.Index(fields=["expires_at"], name="invitation_by_end"),
        ]

    def __str__(self) -> str:
        return f"{self.email} ({self.role or 'workspace'})"

    @property
    def kind(self) -> str:
        """The kind of invitation, by which the handler of its answer is found."""
        if self.workspace_uuid is None:
            return "team"
        return "workspace_member" if self.role else "workspace"

    @property
    def is_open(self) -> bool:
        return self.status == self.Status.OPEN

    @property
    def has_expired(self) -> bool:
        return self.is_open and self.expires_at <= timezone.now()
