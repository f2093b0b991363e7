"""Connect sessions, the codes of their errors and the names of their events, and an agency's connect settings."""

import uuid
from datetime import datetime
from typing import Final, Self

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.functions import TransactionNow
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.models import Agency
from config.encryption import EncryptedTextField
from workspaces.subaccounts.models import Channel, Workspace


class ConnectSettings(models.Model):
    """The connect settings of an agency. Only our support sets `enabled`; the agency sets the rest.

    With `customers_connect`, its customers start connections themselves in their dashboards. With
    `allows_business_app`, a WhatsApp number may stay in the WhatsApp Business app on the customer's phone.

    A missing row means that it is off, without return URLs.
    """

    agency = models.OneToOneField(Agency, on_delete=models.PROTECT, related_name="connect_settings", primary_key=True)
    enabled = models.BooleanField(default=False)
    return_urls = ArrayField(models.CharField(max_length=2048), default=list)
    customers_connect = models.BooleanField(default=False)
    allows_business_app = models.BooleanField(default=False, db_default=False)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "connect settings"
        constraints = [
            models.CheckConstraint(condition=Q(return_urls__len__lte=20), name="connect_at_most_20_return_urls")
        ]

    def __str__(self) -> str:
        return f"{self.agency}: {'on' if self.enabled else 'off'}"


ERROR_CODES: Final[dict[str, str]] = {
    "authorization_not_completed": "The consent was declined or closed.",
    "required_permissions_missing": "A permission that messaging needs was not given.",
    "no_eligible_accounts": "There was no number, Page or linked professional account to connect.",
    "account_already_connected_elsewhere": "This account is connected to another workspace.",
    "channel_limit_reached": "The plan has no room for another channel of this kind.",
    "reconnection_target_mismatch": "Another account than the connected one was chosen.",
    "subscription_failed": "The provider refused to send this account's messages to us.",
    "credentials_expired": "The provider's authorization ended before an account was chosen.",
    "token_exchange_failed": "The provider did not complete the authorization.",
    "asset_discovery_incomplete": "There are too many accounts to list.",
    "provider_request_failed": "The provider rejected a request.",
    "provider_unavailable": "The provider could not be reached.",
    "provider_not_configured": "Connecting this platform is not set up on our side.",
    "session_expired": "30 minutes passed before the connection was finished.",
}


COMPLETED = "channel.connection.completed"
FAILED = "channel.connection.failed"
CANCELLED = "channel.connection.cancelled"
EXPIRED = "channel.connection.expired"


class Platform(models.TextChoices):
    WHATSAPP = "whatsapp", _("WhatsApp")
    FACEBOOK = "facebook", _("Messenger")
    INSTAGRAM = "instagram", _("Instagram")


class SessionStatus(models.TextChoices):
    PENDING = "pending", _("Waiting for the customer")
    AUTHORIZING = "authorizing", _("At the provider")
    SELECTING = "selecting", _("Choosing the account")
    CONNECTED = "connected", _("Connected")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")
    EXPIRED = "expired", _("Expired")


OPEN = (SessionStatus.PENDING, SessionStatus.AUTHORIZING, SessionStatus.SELECTING)


class ConnectSessionQuerySet(models.QuerySet["ConnectSession"]):
    def of(self, agency: Agency) -> Self:
        return self.filter(agency=agency)

    def open(self) -> Self:
        return self.filter(status__in=OPEN)

    def with_status(self, status: str, *, at: datetime) -> Self:
        """Keep the sessions with this status at a moment. An open session past its time counts as expired."""
        if status in OPEN:
            return self.filter(status=status, expires_at__gt=at)
        if status == SessionStatus.EXPIRED:
            return self.filter(Q(status=status) | Q(status__in=OPEN, expires_at__lte=at))
        return self.filter(status=status)

    def in_time(self) -> Self:
        """Keep the sessions whose time is not over by the database's clock, which stands still within a transaction."""
        return self.filter(expires_at__gt=TransactionNow())


class ConnectSession(models.Model):
    """A session in which a customer connects a channel.

    `link_digest` finds the session by its link. `link` is kept, encrypted, only while it may be shown again.
    `browser_digest` is the browser that pressed Continue, and `state_digest` the state sent to the provider until it is
    used. `host` is the agency's host on which Continue was pressed, because the cookie belongs to that host; it is
    empty for the installation's host. `keeps_business_app` is the customer's choice to go on using the WhatsApp
    Business app. `grant` is the provider's token and accounts as JSON, encrypted, and erased when the session ends.
    `idempotency_key` is the agency's key of the request that created it, and `request_digest` the request's digest.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    agency = models.ForeignKey(Agency, on_delete=models.PROTECT, related_name="connect_sessions", db_index=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="connect_sessions", db_index=False)
    platform = models.CharField(max_length=20, choices=Platform)
    status = models.CharField(max_length=20, choices=SessionStatus, default=SessionStatus.PENDING)
    return_url = models.CharField(max_length=2048)
    state = models.CharField(max_length=500, null=True)
    target = models.ForeignKey(Channel, null=True, on_delete=models.PROTECT, related_name="reconnections")
    channel = models.ForeignKey(Channel, null=True, on_delete=models.PROTECT, related_name="connections")
    error_code = models.CharField(max_length=60, null=True)
    link_digest = models.BinaryField(unique=True)
    link = EncryptedTextField(bound_to="uuid", null=True)
    browser_digest = models.BinaryField(null=True)
    state_digest = models.BinaryField(null=True, unique=True)
    host = models.CharField(max_length=253, blank=True, default="")
    keeps_business_app = models.BooleanField(default=False, db_default=False)
    grant = EncryptedTextField(bound_to="uuid", null=True)
    created_by = models.CharField(max_length=254, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    idempotency_key = models.CharField(max_length=255, null=True)
    request_digest = models.BinaryField(null=True)

    objects = ConnectSessionQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="connect_newest_of_workspace"),
            models.Index(fields=["agency", "-id"], name="connect_newest_of_agency"),
            models.Index(fields=["agency", "platform", "-id"], name="connect_newest_of_platform"),
            models.Index(fields=["agency", "status", "-id"], name="connect_newest_of_status"),
            models.Index(fields=["expires_at"], condition=Q(status__in=OPEN), name="connect_to_expire"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["agency", "idempotency_key"], name="connect_key_used_once"),
            models.CheckConstraint(
                condition=Q(idempotency_key=None, request_digest=None)
                | Q(idempotency_key__isnull=False, request_digest__isnull=False),
                name="connect_key_has_a_request",
            ),
            models.CheckConstraint(condition=Q(platform__in=Platform.values), name="connect_platform_is_known"),
            models.CheckConstraint(condition=Q(status__in=SessionStatus.values), name="connect_status_is_known"),
            models.CheckConstraint(
                condition=Q(status__in=OPEN, ended_at=None) | (~Q(status__in=OPEN) & Q(ended_at__isnull=False)),
                name="connect_end_has_a_time",
            ),
            models.CheckConstraint(
                condition=Q(status="connected", channel__isnull=False, error_code=None)
                | (~Q(status="connected") & Q(channel=None)),
                name="connect_success_has_a_channel",
            ),
            models.CheckConstraint(
                condition=~Q(status="failed") | Q(error_code__isnull=False), name="connect_failure_has_a_code"
            ),
            models.CheckConstraint(
                condition=Q(status__in=OPEN) | Q(grant=None, link=None, state_digest=None),
                name="connect_end_forgets_secrets",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.platform} for {self.workspace_id}: {self.status}"

    @property
    def is_open(self) -> bool:
        return self.status in OPEN
