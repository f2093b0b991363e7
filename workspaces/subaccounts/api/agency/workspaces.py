"""Sub-accounts: listed, created, read, changed, suspended and restored."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from agency.limits import in_order
from agency.services import PlanNotFound
from config.api.idempotency import answer_once
from config.api.responses import json_answer
from config.api.schema import PAGE_QUERY, Documented, Query, one, pages
from workspaces.subaccounts.api.agency.scoped import SubAccountViewSet
from workspaces.subaccounts.api.agency.words import NewWorkspace, Suspension, WorkspaceChanges
from workspaces.subaccounts.api.representations import card, channel_card
from workspaces.subaccounts.api.shapes import SubAccount, SubAccountDetail
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import BusinessType
from workspaces.subaccounts.services import (
    SubAccountLimitReached,
    change_workspace,
    create_workspace,
    restore_workspace,
    suspend_workspace,
)
from workspaces.subaccounts.services.listing import Selection
from workspaces.subaccounts.services.payloads import addon_reference

MOST_CHANNELS = 1_000
FILTERS = (
    *PAGE_QUERY,
    Query("search", "Part of the name, in any case and Unicode form."),
    Query("status", "Only sub-accounts with this status.", enum=Workspace.Status.values),
    Query("plan", "Only sub-accounts on the plan with this uuid."),
    Query("business_type", "Only sub-accounts of this type.", enum=BusinessType.values),
)
NEW_EXAMPLE = {
    "name": "Corner Salon",
    "owner": {"name": "Ada", "email": "ada@example.com"},
    "business_type": "salon_spa",
    "timezone": "Europe/Berlin",
}


class WorkspaceViewSet(SubAccountViewSet):
    """The agency's sub-accounts."""

    paginated = True

    @Documented(
        operation_id="listSubAccounts",
        summary="List the sub-accounts, newest first",
        answer=pages(SubAccount),
        query=FILTERS,
    )
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

    @Documented(
        operation_id="createSubAccount",
        summary="Create a sub-account with its owner",
        body=NewWorkspace,
        body_example=NEW_EXAMPLE,
        status=201,
        answer=one(SubAccount),
        errors={403: SubAccountLimitReached.message, 404: PlanNotFound.message},
        idempotent=True,
    )
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

    @Documented(
        operation_id="readSubAccount",
        summary="Read a sub-account with its add-ons, limits and channels",
        answer=one(SubAccountDetail),
    )
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

    @Documented(
        operation_id="updateSubAccount",
        summary="Change name, business type or time zone",
        body=WorkspaceChanges,
        body_example={"name": "Corner Salon and Spa"},
        answer=one(SubAccount),
    )
    def partial_update(self, request: Request, workspace: UUID | None) -> HttpResponse:
        found = self.workspace_of(workspace)
        changes = self.words(WorkspaceChanges, partial=True).changes
        return json_answer({"data": card(change_workspace(workspace=found, by=self.actor, **changes))})

    @Documented(
        operation_id="suspendSubAccount",
        summary="Suspend a sub-account; a suspended one stays as it is",
        body=Suspension,
        body_example={"reason": "Invoice overdue"},
        answer=one(SubAccount),
    )
    def suspend(self, request: Request, workspace: UUID | None) -> HttpResponse:
        found = self.workspace_of(workspace)
        reason = self.words(Suspension).validated_data.get("reason") or ""
        changed = suspend_workspace(workspace=found, reason=reason, now=timezone.now(), by=self.actor)
        return json_answer({"data": card(changed)})

    @Documented(
        operation_id="restoreSubAccount",
        summary="Lift a suspension; an active sub-account stays as it is",
        answer=one(SubAccount),
    )
    def restore(self, request: Request, workspace: UUID | None) -> HttpResponse:
        changed = restore_workspace(workspace=self.workspace_of(workspace), now=timezone.now(), by=self.actor)
        return json_answer({"data": card(changed)})
