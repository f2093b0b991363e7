"""Invitations, sign-ups, browser sessions, and a person's second factor."""

import uuid
from datetime import datetime
from importlib import import_module
from typing import Self

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.timezone import now
from django.utils.translation import gettext_lazy as _

from agency.models.agencies import Agency, Member
from config.encryption import EncryptedTextField

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
        OPEN = "open", _("Pending")
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

    objects = InvitationQuerySet.as_manager()

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


LONGEST_LINK = 500


class SignUpSettingsQuerySet(models.QuerySet["SignUpSettings"]):
    def taking_plans(self) -> Self:
        """Return the settings under which people can get a new workspace, with the default plan."""
        return self.filter(Q(is_on=True) | Q(allows_further_workspaces=True))


class SignUpSettings(models.Model):
    """An agency's settings for sign-up; a missing row means that people cannot sign up or add a workspace.

    New workspaces take the agency's default plan. Without a default plan neither switch can be on, and while a switch
    is on the default plan must stay (triggers of migration 0002).
    """

    agency = models.OneToOneField(Agency, on_delete=models.PROTECT, related_name="sign_up", primary_key=True)
    is_on = models.BooleanField(default=False, db_default=False)
    allows_further_workspaces = models.BooleanField(default=False, db_default=False)
    terms_url = models.CharField(max_length=LONGEST_LINK, blank=True)
    privacy_url = models.CharField(max_length=LONGEST_LINK, blank=True)

    objects = SignUpSettingsQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "sign-up settings"
        constraints = [
            models.CheckConstraint(
                condition=(Q(terms_url="") | Q(terms_url__startswith="https://"))
                & (Q(privacy_url="") | Q(privacy_url__startswith="https://")),
                name="sign_up_links_are_https",
            )
        ]

    def __str__(self) -> str:
        return f"sign-up at {self.agency}"

    @property
    def has_terms(self) -> bool:
        """Whether a new customer has to agree to anything."""
        return bool(self.terms_url or self.privacy_url)


class PendingSignUp(models.Model):
    """What a person wrote on an agency's sign-up page. Person and workspace are made when the link is used, once.

    Until the mail worker has looked the address up (`is_looked_up`), it is unknown whether it has an account; if it
    has, the worker removes the row. `password` is a hash, and is erased when the link is used. `terms_url` and
    `privacy_url` are the documents that the person agreed to.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, db_index=False, related_name="pending_sign_ups")
    email = models.EmailField()
    name = models.CharField(max_length=120)
    password = models.CharField(max_length=128, blank=True)
    business = models.CharField(max_length=120)
    business_type = models.CharField(max_length=30, blank=True)
    timezone = models.CharField(max_length=64)
    terms_url = models.CharField(max_length=LONGEST_LINK, blank=True)
    privacy_url = models.CharField(max_length=LONGEST_LINK, blank=True)
    created_at = models.DateTimeField(default=now, editable=False)
    expires_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True)
    is_looked_up = models.BooleanField(default=False, db_default=False)

    class Meta:
        indexes = [
            models.Index(fields=["id"], condition=Q(is_looked_up=False), name="sign_up_to_look_up"),
            models.Index(fields=["expires_at"], name="sign_up_by_end"),
            models.Index(fields=["email"], name="sign_up_of_address"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=(Q(confirmed_at=None) & ~Q(password="")) | Q(confirmed_at__isnull=False, password=""),
                name="sign_up_keeps_no_password",
            ),
            models.CheckConstraint(condition=Q(expires_at__gt=models.F("created_at")), name="sign_up_ends_later"),
        ]

    def __str__(self) -> str:
        return f"sign-up of {self.email}"


class UserSession(AbstractBaseSession):
    """The session of one browser; deleting the row ends it at once, even for holders of its cookie.

    Without `user` nobody has signed in. `agency` is the one on whose host the person signed in; `address` and `browser`
    (in words) are from that moment. `agency.account.sessions` writes the row.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, db_index=False, related_name="sessions"
    )
    agency = models.ForeignKey(Agency, null=True, on_delete=models.CASCADE, db_index=False, related_name="+")
    signed_in_at = models.DateTimeField(null=True)
    last_seen_at = models.DateTimeField(default=timezone.now)
    address = models.CharField(max_length=45, blank=True)
    browser = models.CharField(max_length=60, blank=True)

    class Meta(AbstractBaseSession.Meta):
        verbose_name = "session"
        verbose_name_plural = "sessions"
        indexes = [models.Index(fields=["user"], condition=Q(user__isnull=False), name="session_of_user")]

    @classmethod
    def get_session_store_class(cls) -> type[SessionBase]:
        """Return the class that reads `session_data`."""
        store: type[SessionBase] = import_module(settings.SESSION_ENGINE).SessionStore
        return store

    def __str__(self) -> str:
        return f"session of {self.user_id or 'nobody'}"


class TwoFactor(models.Model):
    """The key of an authenticator app (RFC 6238); in force from `confirmed_at`, when a first code was right.

    `last_used_step` is the time step of the last accepted code; codes of that step or an earlier step are refused.
    `attempts` counts the attempts since `attempts_since` without a right code.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="two_factor")
    secret = EncryptedTextField(bound_to="user")
    created_at = models.DateTimeField(default=timezone.now)
    confirmed_at = models.DateTimeField(null=True)
    last_used_step = models.BigIntegerField(default=0)
    attempts = models.PositiveIntegerField(default=0)
    attempts_since = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"two-factor of {self.user_id}"


class RecoveryCode(models.Model):
    """A recovery code, which lets a person in once without their app; only its SHA-256 is kept."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False, related_name="recovery_codes"
    )
    digest = models.BinaryField(max_length=32)
    used_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="recovery_code_once_per_user")]

    def __str__(self) -> str:
        return f"recovery code of {self.user_id}"
