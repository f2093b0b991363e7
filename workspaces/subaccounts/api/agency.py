"""The agency API about sub-accounts, and its routes, also those below one sub-account."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from rest_framework.request import Request

from agency.api import AgencyViewSet
from agency.services import PlanNotFound
from config.api.operations import object_response, operation, page_response
from workspaces.subaccounts.api.nested import HeldAddonViewSet, SubAccountChannelViewSet, SubAccountKeyViewSet
from workspaces.subaccounts.api.serializers import (
    NewOwnerSerializer,
    PlanChoiceSerializer,
    SubAccountChangesSerializer,
    SubAccountDetailSerializer,
    SubAccountSerializer,
    SuspensionSerializer,
    UsageSerializer,
)
from workspaces.subaccounts.filters import SubAccountFilterSet
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import (
    OwnerHasPassword,
    SubAccountLimitReached,
    WorkspaceNotFound,
    assign_plan,
    change_owner,
    change_workspace,
    create_workspace,
    resend_owner_invitation,
    restore_workspace,
    suspend_workspace,
    usage_against_limits,
)
from workspaces.subaccounts.services.listing import count_sub_accounts, sub_account_rows


class SubAccountViewSet(AgencyViewSet):
    """The agency's sub-accounts."""

    lookup_url_kwarg = "workspace"
    not_found = WorkspaceNotFound

    def get_queryset(self) -> "QuerySet[Workspace]":
        rows: QuerySet[Workspace] = Workspace.objects.of(self.agency).select_related("plan")
        return rows

    @operation(
        operation_id="listSubAccounts",
        summary="List the sub-accounts, newest first",
        answer=page_response(SubAccountSerializer),
        filters=SubAccountFilterSet,
        errors={422: "A date is malformed."},
    )
    def list(self, request: Request) -> HttpResponse:
        found = self.filtered(Workspace.objects.of(self.agency)) if self.is_filtered else None
        total = count_sub_accounts(self.agency, found)
        rows = sub_account_rows(
            self.agency,
            found,
            columns=SubAccountSerializer.columns(),
            offset=self.page.offset,
            limit=self.page.size,
            total=total,
            is_search=self.parameters.sent("search"),
        )
        return self.paged(SubAccountSerializer(rows, many=True), total)

    @operation(
        operation_id="createSubAccount",
        summary="Create a sub-account with its owner",
        request=SubAccountSerializer,
        status=201,
        answer=object_response(SubAccountSerializer),
        errors={403: SubAccountLimitReached.message, 404: PlanNotFound.message},
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        wanted = self.validated(SubAccountSerializer).validated_data
        workspace = create_workspace(agency=self.agency, **wanted, now=timezone.now(), by=self.actor)
        return self.answer(SubAccountSerializer(workspace), status=201)

    @operation(
        operation_id="readSubAccount",
        summary="Read a sub-account with its add-ons, limits and channels",
        answer=object_response(SubAccountDetailSerializer),
    )
    def retrieve(self, request: Request, workspace: UUID | None) -> HttpResponse:
        return self.answer(SubAccountDetailSerializer(self.get_object()))

    @operation(
        operation_id="updateSubAccount",
        summary="Change name, business type, time zone, external id or metadata",
        request=SubAccountChangesSerializer,
        answer=object_response(SubAccountSerializer),
    )
    def partial_update(self, request: Request, workspace: UUID | None) -> HttpResponse:
        found = self.get_object()
        changes = self.validated(SubAccountChangesSerializer, partial=True).changes
        return self.answer(SubAccountSerializer(change_workspace(workspace=found, by=self.actor, **changes)))

    @operation(
        operation_id="suspendSubAccount",
        summary="Suspend a sub-account; a suspended one stays as it is",
        request=SuspensionSerializer,
        body_optional=True,
        answer=object_response(SubAccountSerializer),
    )
    def suspend(self, request: Request, workspace: UUID | None) -> HttpResponse:
        found = self.get_object()
        reason = self.validated(SuspensionSerializer).validated_data["reason"]
        suspended = suspend_workspace(workspace=found, reason=reason, now=timezone.now(), by=self.actor)
        return self.answer(SubAccountSerializer(suspended))

    @operation(
        operation_id="restoreSubAccount",
        summary="Lift a suspension; an active sub-account stays as it is",
        answer=object_response(SubAccountSerializer),
    )
    def restore(self, request: Request, workspace: UUID | None) -> HttpResponse:
        restored = restore_workspace(workspace=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(SubAccountSerializer(restored))

    @operation(
        operation_id="assignPlan",
        summary="Assign a plan: its limits are copied onto the sub-account",
        request=PlanChoiceSerializer,
        answer=object_response(SubAccountSerializer),
        errors={404: "No such sub-account, or no such plan."},
    )
    def plan(self, request: Request, workspace: UUID | None) -> HttpResponse:
        found = self.get_object()
        plan = self.validated(PlanChoiceSerializer).validated_data["plan"]
        assigned = assign_plan(workspace=found, plan=plan, now=timezone.now(), by=self.actor)
        return self.answer(SubAccountSerializer(assigned))

    @operation(
        operation_id="replaceOwner",
        summary="Hand a sub-account over to another owner, who is asked first unless they belong to the agency already",
        request=NewOwnerSerializer,
        answer=object_response(SubAccountSerializer),
    )
    def owner(self, request: Request, workspace: UUID | None) -> HttpResponse:
        found = self.get_object()
        owner = self.validated(NewOwnerSerializer).validated_data
        return self.answer(
            SubAccountSerializer(change_owner(workspace=found, **owner, now=timezone.now(), by=self.actor))
        )

    @operation(
        operation_id="inviteOwner",
        summary="Send the owner the invitation again",
        status=202,
        answer=object_response(SubAccountSerializer),
        errors={409: OwnerHasPassword.message},
        idempotent=True,
    )
    def invite_owner(self, request: Request, workspace: UUID | None) -> HttpResponse:
        invited = resend_owner_invitation(workspace=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(SubAccountSerializer(invited), status=202)

    @operation(
        operation_id="readUsage", summary="Read how much of each limit is used", answer=object_response(UsageSerializer)
    )
    def usage(self, request: Request, workspace: UUID | None) -> HttpResponse:
        return self.answer(UsageSerializer(usage_against_limits(self.get_object())))


urlpatterns = [
    path("workspaces", SubAccountViewSet.as_view({"get": "list", "post": "create"}), name="workspaces-list"),
    path(
        "workspaces/<id:workspace>",
        SubAccountViewSet.as_view({"get": "retrieve", "patch": "partial_update"}),
        name="workspaces-detail",
    ),
    path("workspaces/<id:workspace>/owner", SubAccountViewSet.as_view({"put": "owner"}), name="workspaces-owner"),
    path("workspaces/<id:workspace>/plan", SubAccountViewSet.as_view({"put": "plan"}), name="workspaces-plan"),
    path(
        "workspaces/<id:workspace>/restore", SubAccountViewSet.as_view({"post": "restore"}), name="workspaces-restore"
    ),
    path(
        "workspaces/<id:workspace>/suspend", SubAccountViewSet.as_view({"post": "suspend"}), name="workspaces-suspend"
    ),
    path("workspaces/<id:workspace>/usage", SubAccountViewSet.as_view({"get": "usage"}), name="workspaces-usage"),
    path(
        "workspaces/<id:workspace>/addons",
        HeldAddonViewSet.as_view({"get": "list", "post": "create"}),
        name="workspaces-addons-list",
    ),
    path(
        "workspaces/<id:workspace>/channels",
        SubAccountChannelViewSet.as_view({"get": "list"}),
        name="workspaces-channels-list",
    ),
    path(
        "workspaces/<id:workspace>/api-keys",
        SubAccountKeyViewSet.as_view({"get": "list", "post": "create"}),
        name="workspaces-api-keys-list",
    ),
    path(
        "workspaces/<id:workspace>/owner/invite",
        SubAccountViewSet.as_view({"post": "invite_owner"}),
        name="workspaces-invite-owner",
    ),
    path(
        "workspaces/<id:workspace>/addons/<id:addon>",
        HeldAddonViewSet.as_view({"delete": "destroy"}),
        name="workspaces-addons-detail",
    ),
    path(
        "workspaces/<id:workspace>/channels/<id:channel>",
        SubAccountChannelViewSet.as_view({"get": "retrieve", "delete": "destroy"}),
        name="workspaces-channels-detail",
    ),
    path(
        "workspaces/<id:workspace>/api-keys/<id:key>",
        SubAccountKeyViewSet.as_view({"get": "retrieve", "delete": "destroy"}),
        name="workspaces-api-keys-detail",
    ),
    path(
        "workspaces/<id:workspace>/api-keys/<id:key>/roll",
        SubAccountKeyViewSet.as_view({"post": "roll"}),
        name="workspaces-api-keys-roll",
    ),
]
