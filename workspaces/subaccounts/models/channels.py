"""A number, Page or account through which a workspace sends and receives messages."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from agency.limits import CHANNEL_TYPES
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


class Channel(models.Model):
    """`external_id` is the provider's own id; `handle` what people know: a phone number, Page name or @username."""

    class Status(models.TextChoices):
        ACTIVE = "active", "Active"
        ERROR = "error", "Error"
        DISCONNECTED = "disconnected", "Disconnected"

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.PROTECT, related_name="channels")
    platform = models.CharField(max_length=20, choices=[(kind, kind) for kind in CHANNEL_TYPES])
    external_id = models.CharField(max_length=100)
    name = models.CharField(max_length=200)
    handle = models.CharField(max_length=200)
    status = models.CharField(max_length=20, choices=Status, default=Status.ACTIVE)
    connected_at = models.DateTimeField(default=timezone.now)

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
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.platform})"
