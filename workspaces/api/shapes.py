"""Sub-accounts and channels as the OpenAPI documents describe them."""

from typing import Any

from rest_framework import serializers

from agency.api.shapes import ADDON_EXAMPLE, LIMITS_EXAMPLE, PLAN_EXAMPLE, LimitsShape, Reference
from agency.limits import CHANNEL_TYPES
from workspaces.automations.requirements import REQUIREMENTS
from workspaces.models import Channel, Workspace
from workspaces.models.workspaces import BusinessType

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
AUTOMATION_EXAMPLE = {
    "id": "0835a412-0126-41e9-a14e-aee25dcee05e",
    "name": "A treat for the birthday",
    "platform": "whatsapp",
    "enabled": False,
    "trigger": {"type": "birthday", "label": "A contact's birthday"},
    "version": 1,
    "published_at": "2026-11-20T11:00:00Z",
    "requires": ["contact"],
    "created_at": "2026-11-20T10:30:00Z",
    "updated_at": "2026-11-20T11:00:00Z",
}


class OwnerShape(serializers.Serializer[Any]):
    """Who runs the sub-account."""

    name = serializers.CharField()
    email = serializers.EmailField()

    class Meta:
        ref_name = "Owner"


class SubAccount(serializers.Serializer[Any]):
    """A sub-account."""

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
    """A sub-account with its add-ons, limits and channels."""

    addons = Reference(many=True)
    limits = LimitsShape()
    channels = ChannelShape(many=True)

    class Meta:
        example = DETAIL_EXAMPLE


class TriggerShape(serializers.Serializer[Any]):
    """What starts an automation."""

    type = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # the field's own name

    class Meta:
        ref_name = "AutomationTrigger"


class AutomationShape(serializers.Serializer[Any]):
    """A flow bound to one channel type."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    platform = serializers.ChoiceField(CHANNEL_TYPES)
    enabled = serializers.BooleanField()
    trigger = TriggerShape()
    version = serializers.IntegerField(allow_null=True, help_text="The published version; null for a draft.")
    published_at = serializers.DateTimeField(allow_null=True)
    requires = serializers.ListField(child=serializers.ChoiceField(list(REQUIREMENTS)))
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()

    class Meta:
        ref_name = "Automation"
        example = AUTOMATION_EXAMPLE


class StepShape(serializers.Serializer[Any]):
    """A step of the published flow, or of the draft where nothing is published."""

    id = serializers.CharField()
    type = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # the field's own name

    class Meta:
        ref_name = "AutomationStep"


class AutomationDetail(AutomationShape):
    """The automation with its steps and what it still needs before it can be switched on."""

    steps = StepShape(many=True)
    missing = serializers.ListField(child=serializers.CharField(), help_text="Sentences; empty when it is ready.")

    class Meta:
        ref_name = "AutomationDetail"
        example = {
            **AUTOMATION_EXAMPLE,
            "steps": [{"id": "wish", "type": "send_template", "label": "Send a template"}],
            "missing": ["This needs at least one contact."],
        }


class Revoked(serializers.Serializer[Any]):
    """Confirmation."""

    revoked = serializers.BooleanField()

    class Meta:
        example = {"revoked": True}
