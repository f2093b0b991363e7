"""The workspace API about automations: their list, one with its steps, switching them, and their runs."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from rest_framework.request import Request

from agency.limits import CHANNEL_TYPES
from config.api.fields import BooleanField, ChoiceField, DateTimeField, IntegerField, ListField, UUIDField
from config.api.filters import BooleanFilter, ChoiceFilter, DateTimeFilter, FilterSet, UUIDFilter
from config.api.operations import object_response, operation, page_response
from config.api.serializers import Serializer
from config.api.text_fields import CharField
from config.errors import Conflict
from workspaces.automations.flows.types import REQUIREMENTS
from workspaces.automations.models import Automation, AutomationRun
from workspaces.automations.serializers import DisablingSerializer, NewRunSerializer, RunSerializer
from workspaces.automations.services import (
    AutomationNotFound,
    NotReady,
    disable_automation,
    enable_automation,
    reasons_not_ready,
)
from workspaces.automations.services.conflicts import overlap_warnings
from workspaces.automations.services.run_control import (
    RunNotFound,
    retry_run,
    start_run,
    stop_run,
    stop_runs_of_automation,
)
from workspaces.automations.services.shown_runs import shown_run, shown_runs
from workspaces.contacts.models import Contact
from workspaces.subaccounts.api.surface import WorkspaceViewSet


class AutomationTriggerSerializer(Serializer):
    """What starts an automation."""

    type = CharField(source="trigger", example="birthday")
    label: Any = CharField(source="trigger_label", example="A contact's birthday")  # the field's own name


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
    label: Any = CharField(example="Send a template")  # the field's own name


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


class CannotBeEnabled(Conflict):
    """The automation is not ready. The message gives all reasons."""


class AutomationPartViewSet(WorkspaceViewSet):
    """Something of one automation, which the path names."""

    @property
    def automation(self) -> Automation:
        rows = Automation.objects.filter(workspace=self.workspace).select_related("published", "workspace")
        return self.find(rows, self.kwargs["automation"], missing=AutomationNotFound)


class EnablingViewSet(AutomationPartViewSet):
    """Switches an automation on."""

    @operation(
        operation_id="enableAutomation",
        summary="Switch an automation on",
        answer=object_response(AutomationDetailSerializer),
        errors={409: "The automation cannot run yet; the message says what is missing."},
    )
    def create(self, request: Request, automation: UUID | None) -> HttpResponse:
        try:
            changed = enable_automation(automation=self.automation, now=timezone.now(), by=self.actor)
        except NotReady as error:
            raise CannotBeEnabled(" ".join(error.reasons)) from error
        return self.answer(AutomationDetailSerializer(changed))


class DisablingViewSet(AutomationPartViewSet):
    """Switches an automation off."""

    @operation(
        operation_id="disableAutomation",
        summary="Switch an automation off",
        request=DisablingSerializer,
        body_optional=True,
        answer=object_response(AutomationDetailSerializer),
    )
    def create(self, request: Request, automation: UUID | None) -> HttpResponse:
        found = self.automation
        wanted = self.validated(DisablingSerializer).validated_data
        now = timezone.now()
        changed = disable_automation(automation=found, now=now, by=self.actor)
        if wanted["stop_runs"]:
            stop_runs_of_automation(automation=changed, now=now)
        return self.answer(AutomationDetailSerializer(changed))


class RunFilterSet(FilterSet):
    class Meta:
        model = AutomationRun
        fields = ()

    status = ChoiceFilter(choices=AutomationRun.Status.choices, help_text="Only runs of this status.")
    contact = UUIDFilter(method="keep_contact", help_text="Only runs of this contact.")
    started_after = DateTimeFilter(
        field_name="started_at", lookup_expr="gte", help_text="Only runs that started at or after this time."
    )
    started_before = DateTimeFilter(
        field_name="started_at", lookup_expr="lte", help_text="Only runs that started at or before this time."
    )

    def keep_contact(self, rows: "QuerySet[AutomationRun]", name: str, value: UUID) -> "QuerySet[AutomationRun]":
        return rows.filter(contact_id__in=Contact.objects.filter(uuid=value).values("pk"))


RUN_REFUSED = (
    "The automation is off or already runs for this contact, or the contact has opted out or cannot be reached."
)


class RunViewSet(AutomationPartViewSet):
    """The ways of contacts through an automation."""

    lookup_url_kwarg = "run"
    not_found = RunNotFound

    def get_queryset(self) -> "QuerySet[AutomationRun]":
        return AutomationRun.objects.of(self.workspace).filter(automation=self.automation)

    @operation(
        operation_id="listRuns",
        summary="List the runs of an automation, newest first",
        answer=page_response(RunSerializer),
        filters=RunFilterSet,
        errors={422: "A time is malformed."},
    )
    def list(self, request: Request, automation: UUID | None) -> HttpResponse:
        rows = self.filtered(self.get_queryset())
        page = rows.order_by("-id")[self.page.offset : self.page.offset + self.page.size]
        return self.paged(RunSerializer(shown_runs(page), many=True), rows.count())

    @operation(
        operation_id="startRun",
        summary="Start an automation for a contact",
        request=NewRunSerializer,
        status=201,
        answer=object_response(RunSerializer),
        errors={404: "No such automation or contact.", 409: RUN_REFUSED},
        idempotent=True,
        request_example={"contact": "f1a7d0a4-6a09-4a4e-9d77-1c3f5f0d7a11"},
    )
    def create(self, request: Request, automation: UUID | None) -> HttpResponse:
        found = self.automation
        contact = self.validated(NewRunSerializer).validated_data["contact"]
        run = start_run(automation=found, contact=contact, by=self.actor, now=timezone.now())
        return self.answer(RunSerializer(shown_run(run)), status=201)

    @operation(operation_id="readRun", summary="Read a run with its steps", answer=object_response(RunSerializer))
    def retrieve(self, request: Request, automation: UUID | None, run: UUID | None) -> HttpResponse:
        return self.answer(RunSerializer(shown_run(self.get_object())))

    @operation(
        operation_id="stopRun",
        summary="Stop a run",
        answer=object_response(RunSerializer),
        errors={409: "The run has ended."},
    )
    def stop(self, request: Request, automation: UUID | None, run: UUID | None) -> HttpResponse:
        stopped = stop_run(run=self.get_object(), by=self.actor, now=timezone.now())
        return self.answer(RunSerializer(shown_run(stopped)))

    @operation(
        operation_id="retryRun",
        summary="Let a failed run go on at the step that failed",
        answer=object_response(RunSerializer),
        errors={409: f"The run has not failed. {RUN_REFUSED}"},
    )
    def retry(self, request: Request, automation: UUID | None, run: UUID | None) -> HttpResponse:
        retried = retry_run(run=self.get_object(), by=self.actor, now=timezone.now())
        return self.answer(RunSerializer(shown_run(retried)))


AUTOMATION = "automations/<id:automation>"
urlpatterns = [
    path("automations", AutomationViewSet.as_view({"get": "list"}), name="automations-list"),
    path(AUTOMATION, AutomationViewSet.as_view({"get": "retrieve"}), name="automations-detail"),
    path(f"{AUTOMATION}/enable", EnablingViewSet.as_view({"post": "create"}), name="automations-enable"),
    path(f"{AUTOMATION}/disable", DisablingViewSet.as_view({"post": "create"}), name="automations-disable"),
    path(f"{AUTOMATION}/runs", RunViewSet.as_view({"get": "list", "post": "create"}), name="automations-runs-list"),
    path(f"{AUTOMATION}/runs/<id:run>", RunViewSet.as_view({"get": "retrieve"}), name="automations-runs-detail"),
    path(f"{AUTOMATION}/runs/<id:run>/stop", RunViewSet.as_view({"post": "stop"}), name="automations-runs-stop"),
    path(f"{AUTOMATION}/runs/<id:run>/retry", RunViewSet.as_view({"post": "retry"}), name="automations-runs-retry"),
]
