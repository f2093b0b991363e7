"""Runs of automations, as the workspace surface and its events show them."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from config.api.fields import BooleanField, ChoiceField, DateTimeField, UUIDField
from config.api.serializers import Serializer, TenantRelatedField
from config.api.text_fields import CharField
from workspaces.automations.models import AutomationRun
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound
from workspaces.conversations.serializers import SenderSerializer


class RunContactSerializer(Serializer):
    """The contact of a run."""

    id = UUIDField(source="uuid")
    name = CharField(blank_as_null=True, example="Ada")
    phone = CharField(allow_null=True, example="+4930123456")


class RunStepSerializer(Serializer):
    """A step that a run has done."""

    step = CharField(source="node", help_text="The step's `id` in the automation.", example="wish")
    at = DateTimeField()
    outcome = CharField(
        help_text="The port by which the run left the step; `waiting`, `ended` or `failed` where it left by none.",
        example="next",
    )


class RunErrorSerializer(Serializer):
    """The reason for which a run failed."""

    code = CharField(example="window_closed")
    step = CharField(source="node", blank_as_null=True, example="wish")
    message = CharField(example="The 24-hour window of this conversation is closed.")


class RunSerializer(Serializer):
    """One contact's way through an automation."""

    id = UUIDField(source="run.uuid")
    contact = RunContactSerializer(allow_null=True)
    status = ChoiceField(AutomationRun.Status.choices, source="run.status")
    started_by = SenderSerializer(source="starter")
    steps = RunStepSerializer(
        many=True, help_text="In their order. A list shows the latest 50 of each run, one run its latest 1,000."
    )
    error = RunErrorSerializer(allow_null=True)
    started_at = DateTimeField(source="run.started_at")
    ended_at = DateTimeField(source="run.ended_at", allow_null=True)


def contacts_of_caller(context: Mapping[str, Any]) -> "QuerySet[Contact]":
    return Contact.objects.of(context["view"].workspace)


class NewRunSerializer(Serializer):
    """A run that is to be started."""

    contact = TenantRelatedField(
        queryset=contacts_of_caller, missing=ContactNotFound, representation=RunContactSerializer()
    )


class DisablingSerializer(Serializer):
    """How an automation is switched off."""

    stop_runs = BooleanField(
        required=False,
        default=False,
        help_text="Also stops its runs that are under way, at most 10,000; without it they go on to their end.",
    )
