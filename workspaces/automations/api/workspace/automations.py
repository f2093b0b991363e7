"""The workspace's own automations."""

from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from agency.limits import CHANNEL_TYPES
from config.api.responses import json_answer
from config.api.schema import LIMIT_QUERY, PAGE_QUERY, Documented, Query, one, pages
from workspaces.automations.api.representations import automation_card, step_row
from workspaces.automations.api.shapes import AutomationDetail, AutomationShape
from workspaces.automations.models import Automation
from workspaces.automations.services import AutomationNotFound, what_is_missing
from workspaces.subaccounts.api.workspace.surface import WorkspaceSurfaceViewSet

FILTERS = (
    *PAGE_QUERY,
    LIMIT_QUERY,
    Query("platform", "Only automations of this channel type.", enum=CHANNEL_TYPES),
    Query("enabled", "Only automations that are switched on, or off.", enum=("true", "false")),
)


class AutomationViewSet(WorkspaceSurfaceViewSet):
    """Flows that answer and act on their own."""

    paginated = True

    @Documented(
        operation_id="listAutomations",
        summary="List the automations, newest first",
        answer=pages(AutomationShape),
        query=FILTERS,
    )
    def list(self, request: Request) -> HttpResponse:
        automations = Automation.objects.filter(workspace=self.workspace)
        platform = self.parameters.one_of("platform", CHANNEL_TYPES)
        enabled = self.parameters.one_of("enabled", ("true", "false"))
        if platform is not None:
            automations = automations.filter(platform=platform)
        if enabled is not None:
            automations = automations.filter(enabled=enabled == "true")
        rows = automations.select_related("published").defer("draft", "published__flow")
        newest = rows.order_by("-created_at", "-id")[self.page.offset : self.page.offset + self.page.size]
        return self.paged([automation_card(automation) for automation in newest], automations.count())

    @Documented(
        operation_id="readAutomation",
        summary="Read an automation with its steps",
        answer=one(AutomationDetail),
        errors={404: AutomationNotFound.message},
    )
    def retrieve(self, request: Request, automation: UUID | None) -> HttpResponse:
        mine = Automation.objects.filter(workspace=self.workspace).select_related("published", "workspace")
        found = mine.filter(uuid=automation).first() if automation else None
        if found is None:
            raise AutomationNotFound
        flow = found.published.flow if found.published else found.draft
        more = {"steps": [step_row(step) for step in flow["steps"]], "missing": what_is_missing(found)}
        return json_answer({"data": automation_card(found) | more})
