"""Automations, as a workspace reads its own."""

from typing import Any

from agency.limits import CHANNEL_TYPES
from config.api.fields import BooleanField, ChoiceField, DateTimeField, IntegerField, ListField, UUIDField
from config.api.serializers import Serializer
from config.api.text_fields import CharField
from workspaces.automations.flows.requirements import REQUIREMENTS
from workspaces.automations.services import reasons_not_ready


class AutomationTriggerSerializer(Serializer):
    """What starts an automation."""

    type = CharField(source="trigger", example="birthday")
    label = CharField(source="trigger_label", example="A contact's birthday")  # type: ignore[assignment]  # the field's own name


class AutomationSerializer(Serializer):
    """A flow bound to one channel type."""

    id = UUIDField(source="uuid", example="0835a412-0126-41e9-a14e-aee25dcee05e")
    name = CharField(example="A treat for the birthday")
    platform = ChoiceField(CHANNEL_TYPES)
    enabled = BooleanField()
    trigger = AutomationTriggerSerializer(source="*")
    version = IntegerField(
        source="published_version", allow_null=True, help_text="The published version; null for a draft.", example=1
    )
    published_at = DateTimeField(allow_null=True, example="2026-11-20T11:00:00Z")
    requires = ListField(child=ChoiceField(list(REQUIREMENTS)))
    created_at = DateTimeField()
    updated_at = DateTimeField()


class AutomationStepSerializer(Serializer):
    """A step of the published flow, or of the draft where nothing is published."""

    id = CharField(example="wish")
    type = CharField(example="send_template")
    label = CharField(example="Send a template")  # type: ignore[assignment]  # the field's own name


class MissingField(ListField):
    """What the automation still needs, in sentences."""

    is_written_as_it_is = False

    def __init__(self, **options: Any) -> None:
        super().__init__(source="*", read_only=True, **options)

    def to_representation(self, automation: Any) -> list[str]:
        return reasons_not_ready(automation)


class AutomationDetailSerializer(AutomationSerializer):
    """The automation with its steps and what it still needs before it can be switched on."""

    steps = AutomationStepSerializer(many=True, source="labelled_steps")
    missing = MissingField(
        child=CharField(example="This needs at least one contact."), help_text="Sentences; empty when it is ready."
    )
