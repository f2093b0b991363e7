"""Automations as the OpenAPI document describes them."""

from typing import Any

from rest_framework import serializers

from agency.limits import CHANNEL_TYPES
from workspaces.automations.flows.requirements import REQUIREMENTS

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
