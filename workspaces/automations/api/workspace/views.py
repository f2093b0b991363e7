"""The workspace's own automations."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework.request import Request

from config.api.operations import object_response, operation, page_response
from workspaces.automations.api.serializers import AutomationDetailSerializer, AutomationSerializer
from workspaces.automations.filters import AutomationFilterSet
from workspaces.automations.models import Automation
from workspaces.automations.services import AutomationNotFound
from workspaces.subaccounts.api.surface import WorkspaceViewSet


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
