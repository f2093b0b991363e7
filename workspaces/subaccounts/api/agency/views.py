"""Sub-accounts with their plans, add-ons and channels, as an agency manages them."""

from functools import cached_property
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from agency.api import AddonSerializer, AgencyViewSet
from agency.models import Addon
from agency.services import AddonNotFound, PlanNotFound
from config.api.operations import list_response, object_response, operation, page_response
from workspaces.subaccounts.api.serializers import (
    AddonChoiceSerializer,
    ChannelSerializer,
    NewOwnerSerializer,
    PlanChoiceSerializer,
    RevokedSerializer,
    SubAccountChangesSerializer,
    SubAccountDetailSerializer,
    SubAccountSerializer,
    SuspensionSerializer,
    UsageSerializer,
)
from workspaces.subaccounts.filters import SubAccountFilterSet
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.services import (
    ChannelNotFound,
    OwnerHasPassword,
    SubAccountLimitReached,
    WorkspaceNotFound,
    assign_plan,
    change_owner,
    change_workspace,
    create_workspace,
    disconnect_channel,
    grant_addon,
    invite_owner_again,
    restore_workspace,
    revoke_addon,
    suspend_workspace,
    usage_against_limits,
)
from workspaces.subaccounts.services.listing import count_of, rows_of


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
        total = count_of(self.agency, found)
        rows = rows_of(
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
        invited = invite_owner_again(workspace=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(SubAccountSerializer(invited), status=202)

    @operation(
        operation_id="readUsage", summary="Read how much of each limit is used", answer=object_response(UsageSerializer)
    )
    def usage(self, request: Request, workspace: UUID | None) -> HttpResponse:
        return self.answer(UsageSerializer(usage_against_limits(self.get_object())))


class SubAccountPartViewSet(AgencyViewSet):
    """Views below a sub-account's own path."""

    @cached_property
    def workspace(self) -> Workspace:
        """The sub-account that the path names. Raises `WorkspaceNotFound`."""
        rows: QuerySet[Workspace] = Workspace.objects.of(self.agency).select_related("plan")
        return self.find(rows, self.kwargs["workspace"], missing=WorkspaceNotFound)


class HeldAddonViewSet(SubAccountPartViewSet):
    """The add-ons that a sub-account holds, with the limits that it got with them."""

    lookup_url_kwarg = "addon"
    not_found = AddonNotFound

    def get_queryset(self) -> "QuerySet[Addon]":
        """An archived add-on can be taken away, though no longer granted."""
        return Addon.objects.filter(agency=self.agency)

    @operation(
        operation_id="listHeldAddons",
        summary="List the add-ons of a sub-account",
        answer=list_response(AddonSerializer),
    )
    def list(self, request: Request, workspace: UUID | None) -> HttpResponse:
        return self.answer(AddonSerializer(self.workspace.granted_addons, many=True))

    @operation(
        operation_id="grantAddon",
        summary="Grant an add-on; one that is held already answers 200",
        request=AddonChoiceSerializer,
        status=201,
        answer=object_response(AddonSerializer),
        also={200: object_response(AddonSerializer)},
        errors={404: "No such sub-account, or no such add-on."},
        idempotent=True,
    )
    def create(self, request: Request, workspace: UUID | None) -> HttpResponse:
        found = self.workspace
        addon = self.validated(AddonChoiceSerializer).validated_data["addon"]
        granted = grant_addon(workspace=found, addon=addon, now=timezone.now(), by=self.actor)
        [held] = [one for one in found.granted_addons if one.pk == addon.pk]
        return self.answer(AddonSerializer(held), status=201 if granted else 200)

    @operation(operation_id="revokeAddon", summary="Revoke an add-on", answer=object_response(RevokedSerializer))
    def destroy(self, request: Request, workspace: UUID | None, addon: UUID | None) -> HttpResponse:
        found, held = self.workspace, self.get_object()
        revoke_addon(workspace=found, addon=held, now=timezone.now(), by=self.actor)
        return self.answer(RevokedSerializer({"revoked": True}))


class SubAccountChannelViewSet(SubAccountPartViewSet):
    """The channels of a sub-account."""

    lookup_url_kwarg = "channel"
    not_found = ChannelNotFound

    def get_queryset(self) -> "QuerySet[Channel]":
        channels: QuerySet[Channel] = self.workspace.channels.all()
        return channels

    @operation(
        operation_id="listSubAccountChannels",
        summary="List the channels of a sub-account",
        answer=list_response(ChannelSerializer),
    )
    def list(self, request: Request, workspace: UUID | None) -> HttpResponse:
        return self.answer(ChannelSerializer(self.workspace.connected_channels, many=True))

    @operation(
        operation_id="readSubAccountChannel",
        summary="Read a channel of a sub-account",
        answer=object_response(ChannelSerializer),
    )
    def retrieve(self, request: Request, workspace: UUID | None, channel: UUID | None) -> HttpResponse:
        return self.answer(ChannelSerializer(self.get_object()))

    @operation(
        operation_id="disconnectSubAccountChannel",
        summary="Disconnect a channel, which frees its account; a disconnected one stays as it is",
        answer=object_response(ChannelSerializer),
    )
    def destroy(self, request: Request, workspace: UUID | None, channel: UUID | None) -> HttpResponse:
        disconnected = disconnect_channel(channel=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(ChannelSerializer(disconnected))
