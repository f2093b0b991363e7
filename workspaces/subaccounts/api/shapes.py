"""Sub-accounts and channels as the OpenAPI documents describe them."""

from typing import Any

from rest_framework import serializers

from agency.api.shapes import ADDON_EXAMPLE, LIMITS_EXAMPLE, PLAN_EXAMPLE, LimitsShape, Reference
from agency.limits import CHANNEL_TYPES
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.models.workspaces import BusinessType

CHANNEL_EXAMPLE = {
    "id": "5a8d7c36-1b0e-4d7f-9d55-3f2b1c0a9e84",
    "platform": "whatsapp",
    "name": "Front desk",
    "status": "active",
    "handle": "+1 555 0100",
    "connected_at": "2026-11-20T10:05:00Z",
}
CARD_EXAMPLE = {
    "uuid": "8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10",
    "name": "Corner Salon",
    "status": "active",
    "plan": PLAN_EXAMPLE,
    "owner": {"name": "Ada", "email": "ada@example.com"},
    "business_type": "salon_spa",
    "timezone": "Europe/Berlin",
    "created_at": "2026-11-20T09:30:00Z",
    "suspended_at": None,
}
DETAIL_EXAMPLE = {**CARD_EXAMPLE, "addons": [ADDON_EXAMPLE], "limits": LIMITS_EXAMPLE, "channels": [CHANNEL_EXAMPLE]}


class OwnerShape(serializers.Serializer[Any]):
    """Who runs the sub-account."""

    name = serializers.CharField()
    email = serializers.EmailField()

    class Meta:
        ref_name = "Owner"


class SubAccount(serializers.Serializer[Any]):
    """The card of a sub-account."""

    uuid = serializers.UUIDField()
    name = serializers.CharField()
    status = serializers.ChoiceField(Workspace.Status.choices)
    plan = Reference(allow_null=True)
    owner = OwnerShape()
    business_type = serializers.ChoiceField(BusinessType.choices, allow_null=True)
    timezone = serializers.CharField(help_text="IANA name, such as Europe/Berlin.")
    created_at = serializers.DateTimeField()
    suspended_at = serializers.DateTimeField(allow_null=True)

    class Meta:
        example = CARD_EXAMPLE


class ChannelShape(serializers.Serializer[Any]):
    """A connected number, Page or account."""

    id = serializers.UUIDField()
    platform = serializers.ChoiceField(CHANNEL_TYPES)
    name = serializers.CharField()
    status = serializers.ChoiceField(Channel.Status.choices)
    handle = serializers.CharField(help_text="The phone number, Page name or @username.")
    connected_at = serializers.DateTimeField()

    class Meta:
        ref_name = "Channel"
        example = CHANNEL_EXAMPLE


class SubAccountDetail(SubAccount):
    """The card with add-ons, limits and channels."""

    addons = Reference(many=True)
    limits = LimitsShape()
    channels = ChannelShape(many=True)

    class Meta:
        example = DETAIL_EXAMPLE


class Revoked(serializers.Serializer[Any]):
    """Confirmation."""

    revoked = serializers.BooleanField()

    class Meta:
        example = {"revoked": True}
