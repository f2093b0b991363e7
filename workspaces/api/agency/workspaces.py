"""Sub-accounts: listed, created, read, changed, suspended and restored."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from agency.limits import in_order
from config.api.idempotency import answer_once
from config.api.responses import json_answer
from workspaces.api.agency.scoped import SubAccountViewSet
from workspaces.api.agency.words import NewWorkspace, Suspension, WorkspaceChanges
from workspaces.api.representations import card, channel_card
from workspaces.models import Workspace
from workspaces.models.workspaces import BusinessType
from workspaces.services import change_workspace, create_workspace, restore_workspace, suspend_workspace
from workspaces.services.listing import Selection
from workspaces.services.payloads import addon_reference

MOST_CHANNELS = 1_000


class WorkspaceViewSet(SubAccountViewSet):
    """The agency's sub-accounts."""

    paginated = True

    def list(self, request: Request) -> HttpResponse:
        asked = self.parameters
        selection = Selection(
            agency=self.agency,
            search=asked.text("search"),
            status=asked.one_of("status", Workspace.Status.values),
            plan=asked.uuid("plan"),
            business_type=asked.one_of("business_type", BusinessType.values),
        )
        total = selection.count()
        return self.paged(selection.cards(offset=self.page.offset, limit=self.page.size, total=total), total)

    def create(self, request: Request) -> HttpResponse:
        words = self.words(NewWorkspace).validated_data
        return answer_once(request, principal=self.principal, work=lambda: self._create(words))

    def _create(self, words: dict[str, Any]) -> tuple[int, Any]:
        workspace = create_workspace(
            agency=self.agency,
            name=words["name"],
            owner_name=words["owner"]["name"],
            owner_email=words["owner"]["email"],
            plan=self.plan_of(words["plan"]) if words["plan"] else None,
            business_type=words["business_type"],
            timezone=words["timezone"],
            now=timezone.now(),
            by=self.actor,
        )
        return 201, {"data": card(workspace)}

    def retrieve(self, request: Request, workspace: UUID | None) -> HttpResponse:
        found = self.workspace_of(workspace)
        held = found.held_addons.select_related("addon").order_by("granted_at", "id")
        channels = found.channels.order_by("connected_at", "id")[:MOST_CHANNELS]
        more = {
            "addons": [addon_reference(one.addon) for one in held],
            "limits": in_order(found.limits),
            "channels": [channel_card(channel) for channel in channels],
        }
        return json_answer({"data": card(found) | more})

    def partial_update(self, request: Request, workspace: UUID | None) -> HttpResponse:
        found = self.workspace_of(workspace)
        changes = self.words(WorkspaceChanges, partial=True).changes
        return json_answer({"data": card(change_workspace(workspace=found, by=self.actor, **changes))})

    def suspend(self, request: Request, workspace: UUID | None) -> HttpResponse:
        found = self.workspace_of(workspace)
        reason = self.words(Suspension).validated_data.get("reason") or ""
        changed = suspend_workspace(workspace=found, reason=reason, now=timezone.now(), by=self.actor)
        return json_answer({"data": card(changed)})

    def restore(self, request: Request, workspace: UUID | None) -> HttpResponse:
        changed = restore_workspace(workspace=self.workspace_of(workspace), now=timezone.now(), by=self.actor)
        return json_answer({"data": card(changed)})
