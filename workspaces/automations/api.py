"""The workspace API about automations: their list, and one automation with its steps."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import path
from rest_framework.request import Request

from agency.limits import CHANNEL_TYPES
from config.api.fields import BooleanField, ChoiceField, DateTimeField, IntegerField, ListField, UUIDField
from config.api.filters import BooleanFilter, ChoiceFilter, FilterSet
from config.api.operations import object_response, operation, page_response
from config.api.serializers import Serializer
from config.api.text_fields import CharField
from workspaces.automations.flows.types import REQUIREMENTS
from workspaces.automations.models import Automation
from workspaces.automations.services import AutomationNotFound, reasons_not_ready
from workspaces.automations.services.conflicts import overlap_warnings
from workspaces.subaccounts.api.surface import WorkspaceViewSet


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


class WarningsField(MissingField):
    """What people should know before they switch the automation on, in sentences."""

    def to_representation(self, automation: Any) -> list[str]:
        return overlap_warnings(automation)


class AutomationDetailSerializer(AutomationSerializer):
    """The automation with its steps and what it still needs before it can be switched on."""

    steps = AutomationStepSerializer(many=True, source="labelled_steps")
    missing = MissingField(
        child=CharField(example="This needs at least one contact."), help_text="Sentences; empty when it is ready."
    )
    warnings = WarningsField(
        child=CharField(
            example="\u201cPrices\u201d is on and starts with the same. Where both fit, \u201cPrices\u201d answers."
        ),
        help_text="Sentences about other automations that are on; they do not keep it from being switched on.",
    )


class AutomationFilterSet(FilterSet):
    platform = ChoiceFilter(
        choices=[(kind, kind) for kind in CHANNEL_TYPES], help_text="Only automations of this channel type."
    )
    enabled = BooleanFilter(help_text="Only automations that are switched on, or off.")


class AutomationViewSet(WorkspaceViewSet):
    """Flows that answer and act on their own."""

    lookup_url_kwarg = "automation"
    not_found = AutomationNotFound

    def get_queryset(self) -> "QuerySet[Automation]":
        return Automation.objects.filter(workspace=self.workspace).select_related("published", "workspace")

    @operation(
        operation_id="listAutomations",
        summary="List the automations, newest first",
        answer=page_response(AutomationSerializer),
        filters=AutomationFilterSet,
    )
    def list(self, request: Request) -> HttpResponse:
        rows = self.filtered(self.get_queryset()).defer("draft", "published__flow")
        return self.page_of(rows.order_by("-created_at", "-id"), AutomationSerializer)

    @operation(
        operation_id="readAutomation",
        summary="Read an automation with its steps",
        answer=object_response(AutomationDetailSerializer),
    )
    def retrieve(self, request: Request, automation: UUID | None) -> HttpResponse:
        return self.answer(AutomationDetailSerializer(self.get_object()))


urlpatterns = [
    path("automations", AutomationViewSet.as_view({"get": "list"}), name="automations-list"),
    path("automations/<id:automation>", AutomationViewSet.as_view({"get": "retrieve"}), name="automations-detail"),
]
