"""Channels: the numbers, Pages and accounts through which a workspace sends and receives messages."""

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
    """A higher app's count of the people who use up a channel's limit, as an expression over channel rows."""

    name: str
    used: Callable[[], models.expressions.Combinable]


allowance_sources = Registry[AllowanceSource](
    "sources of used allowances",
    called=(
        "`with_used_allowance` calls the only one and puts its expression into a query of channels; one person may "
        "be in the counts of two sources, so a second one is refused at start-up"
    ),
    transaction="the caller's, if there is one",
    failure="reaches the caller",
    takes_one=True,
)


class Channel(models.Model):
    """A number, Page or account. `external_id` is the provider's id, `handle` the number or name that people know.

    `messaging_limit` is how many people a WhatsApp number may write to first in 24 hours; None means no limit, and an
    unknown limit counts as the smallest. `quality` is how content people are with the number's messages.
    `limit_told_at` and `quality_told_at` are the provider's times of the last change, so that an older change that
    arrives later is ignored. `is_on_business_app` says that the number stays in the WhatsApp Business app on a phone.
    `lost_reason` is the provider's term for why the channel stopped working.
    """

    class Status(models.TextChoices):
        ACTIVE = "active", _("Active")
        ERROR = "error", _("Not working")
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
    is_on_business_app = models.BooleanField(default=False, db_default=False)
    lost_reason = models.CharField(max_length=60, blank=True, default="", db_default="")

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
        return f"{self.name} ({CHANNEL_NAMES[self.platform]})"

    @property
    def known_quality(self) -> str | None:
        """The quality of a WhatsApp number; None on other platforms."""
        return self.quality if self.platform == "whatsapp" else None

    @property
    def remaining_allowance(self) -> int | None:
        """How many more people the number may write to first; None without a limit.

        It uses the annotation of `with_used_allowance`, or reads the count with one more statement.
        """
        if self.messaging_limit is None:
            return None
        used: int | None = getattr(self, "used_allowance", None)
        if used is None:
            own = with_used_allowance(Channel.objects.filter(pk=self.pk)).first()
            used = getattr(own, "used_allowance", None)
        return max(0, self.messaging_limit - (used or 0))


def with_used_allowance(channels: "models.QuerySet[Channel]") -> "models.QuerySet[Channel]":
    """Annotate each channel with `used_allowance`, by the registered source; 0 if no app counts."""
    source = allowance_sources.only
    return channels.annotate(used_allowance=source.used() if source else Value(0, models.IntegerField()))
