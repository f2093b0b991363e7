"""A sub-account's plan, add-ons and channels."""

from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from agency.api.catalogue import catalogue_item
from agency.api.shapes import ADDON_EXAMPLE, PLAN_EXAMPLE, CatalogueItem
from config.api.responses import json_answer
from config.api.schema import Documented, many, one
from config.errors import NotFound
from workspaces.subaccounts.api.agency.scoped import SubAccountViewSet
from workspaces.subaccounts.api.agency.words import AddonChoice, PlanChoice
from workspaces.subaccounts.api.representations import card, channel_card
from workspaces.subaccounts.api.shapes import ChannelShape, Revoked, SubAccount
from workspaces.subaccounts.services import assign_plan, grant_addon, revoke_addon

MOST_CHANNELS = 1_000


class ChannelNotFound(NotFound):
    message = "Channel not found."


class SubscriptionViewSet(SubAccountViewSet):
    """The base plan of a sub-account."""

    @Documented(
        operation_id="assignPlan",
        summary="Assign a plan: its limits are copied onto the sub-account",
        body=PlanChoice,
        body_example={"plan": PLAN_EXAMPLE["uuid"]},
        answer=one(SubAccount),
        errors={404: "No such sub-account, or no such plan."},
    )
    def update(self, request: Request, workspace: UUID | None) -> HttpResponse:
        found = self.workspace_of(workspace)
        plan = self.plan_of(self.words(PlanChoice).validated_data["plan"])
        return json_answer({"data": card(assign_plan(workspace=found, plan=plan, now=timezone.now(), by=self.actor))})


class HeldAddonViewSet(SubAccountViewSet):
    """The add-ons that a sub-account holds."""

    @Documented(operation_id="listHeldAddons", summary="List the add-ons of a sub-account", answer=many(CatalogueItem))
    def list(self, request: Request, workspace: UUID | None) -> HttpResponse:
        held = self.workspace_of(workspace).held_addons.select_related("addon").order_by("granted_at", "id")
        return json_answer({"data": [catalogue_item(one.addon) for one in held]})

    @Documented(
        operation_id="grantAddon",
        summary="Grant an add-on; one that is held already answers 200",
        body=AddonChoice,
        body_example={"addon": ADDON_EXAMPLE["uuid"]},
        status=201,
        answer=one(CatalogueItem),
        also={200: one(CatalogueItem)},
        errors={404: "No such sub-account, or no such add-on."},
    )
    def create(self, request: Request, workspace: UUID | None) -> HttpResponse:
        found = self.workspace_of(workspace)
        addon = self.addon_of(self.words(AddonChoice).validated_data["addon"])
        granted = grant_addon(workspace=found, addon=addon, now=timezone.now(), by=self.actor)
        return json_answer({"data": catalogue_item(addon)}, status=201 if granted else 200)

    @Documented(operation_id="revokeAddon", summary="Revoke an add-on", answer=one(Revoked))
    def destroy(self, request: Request, workspace: UUID | None, addon: UUID | None) -> HttpResponse:
        found = self.workspace_of(workspace)
        held = self.addon_of(addon, archived=True)
        revoke_addon(workspace=found, addon=held, now=timezone.now(), by=self.actor)
        return json_answer({"data": {"revoked": True}})


class WorkspaceChannelViewSet(SubAccountViewSet):
    """The channels of a sub-account."""

    @Documented(
        operation_id="listSubAccountChannels", summary="List the channels of a sub-account", answer=many(ChannelShape)
    )
    def list(self, request: Request, workspace: UUID | None) -> HttpResponse:
        channels = self.workspace_of(workspace).channels.order_by("connected_at", "id")[:MOST_CHANNELS]
        return json_answer({"data": [channel_card(channel) for channel in channels]})

    @Documented(
        operation_id="readSubAccountChannel", summary="Read a channel of a sub-account", answer=one(ChannelShape)
    )
    def retrieve(self, request: Request, workspace: UUID | None, channel: UUID | None) -> HttpResponse:
        channels = self.workspace_of(workspace).channels
        found = channels.filter(uuid=channel).first() if channel else None
        if found is None:
            raise ChannelNotFound
        return json_answer({"data": channel_card(found)})
