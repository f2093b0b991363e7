"""A number, Page or account through which a workspace sends and receives messages."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass

from django.db import models
from django.db.models import Q, Value
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agency.limits import CHANNEL_TYPES
from config.hooks import Registry
from workspaces.subaccounts.models.workspaces import Workspace

CHANNEL_NAMES = {
    "whatsapp": "WhatsApp",
    "facebook": "Messenger",
    "instagram": "Instagram",
    "sms": "SMS",
    "tiktok": "TikTok",
    "telegram": "Telegram",
    "livechat": "live chat",
    "gbp": "Google Business Profile",
}


@dataclass(frozen=True, slots=True)
class AllowanceSource:
    """How a higher app says how many people count against a channel's limit: an expression over channels' rows."""

    name: str
    used: Callable[[], models.expressions.Combinable]


allowance_sources = Registry[AllowanceSource]("sources of used allowances")


class Channel(models.Model):
    """`external_id` is the provider's own id; `handle` what people know: a phone number, Page name or @username.

    `messaging_limit` is how many people a WhatsApp number may write to first in 24 hours, None where there is no limit
    (one that the provider does not tell counts as the smallest); `quality` how content people are with what it sends.
    When the provider says that it changed either is kept, so that an older change which comes later changes nothing.
    """

    class Status(models.TextChoices):
        ACTIVE = "active", _("Active")
        ERROR = "error", _("Error")
        DISCONNECTED = "disconnected", _("Disconnected")

    class Quality(models.TextChoices):
        GREEN = "GREEN", _("High")
        YELLOW = "YELLOW", _("Medium")
        RED = "RED", _("Low")
        UNKNOWN = "UNKNOWN", _("Unknown")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="channels")
    platform = models.CharField(max_length=20, choices=[(kind, kind) for kind in CHANNEL_TYPES])
    external_id = models.CharField(max_length=100)
    name = models.CharField(max_length=200)
    handle = models.CharField(max_length=200)
    status = models.CharField(max_length=20, choices=Status, default=Status.ACTIVE)
    connected_at = models.DateTimeField(default=timezone.now)
    messaging_limit = models.IntegerField(null=True)
    limit_told_at = models.DateTimeField(null=True)
    quality = models.CharField(max_length=10, choices=Quality, default=Quality.UNKNOWN, db_default="UNKNOWN")
    quality_told_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["workspace"], condition=Q(status="error"), name="channel_broken")]
        constraints = [
            models.UniqueConstraint(
                fields=["platform", "external_id"],
                condition=~Q(status="disconnected"),
                name="channel_account_connected_once",
            ),
            models.CheckConstraint(condition=Q(platform__in=CHANNEL_TYPES), name="channel_platform_is_known"),
            models.CheckConstraint(
                condition=Q(status__in=["active", "error", "disconnected"]), name="channel_status_is_known"
            ),
            models.CheckConstraint(
                condition=Q(quality__in=["GREEN", "YELLOW", "RED", "UNKNOWN"]), name="channel_quality_is_known"
            ),
            models.CheckConstraint(condition=Q(messaging_limit__gte=0), name="channel_limit_is_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.platform})"

    @property
    def known_quality(self) -> str | None:
        """The quality of a WhatsApp number; other platforms have none."""
        return self.quality if self.platform == "whatsapp" else None

    @property
    def remaining_allowance(self) -> int | None:
        """How many more people the number may write to first; None where nothing limits it.

        A list's channels bring `used_allowance` along.
        """
        if self.messaging_limit is None:
            return None
        used: int | None = getattr(self, "used_allowance", None)
        if used is None:
            own = with_used_allowance(Channel.objects.filter(pk=self.pk)).first()
            used = getattr(own, "used_allowance", None)
        return max(0, self.messaging_limit - (used or 0))


def with_used_allowance(channels: "models.QuerySet[Channel]") -> "models.QuerySet[Channel]":
    """Read along how many people count against each channel's limit, as the app says that counts them."""
    counted = [source.used() for source in allowance_sources]
    return channels.annotate(used_allowance=counted[0] if counted else Value(0, models.IntegerField()))
