"""A sub-account's plan, add-ons and channels."""

from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from agency.api.catalogue import catalogue_item
from config.api.responses import json_answer
from config.errors import NotFound
from workspaces.api.agency.scoped import SubAccountViewSet
from workspaces.api.agency.words import AddonChoice, PlanChoice
from workspaces.api.representations import card, channel_card
from workspaces.services import assign_plan, grant_addon, revoke_addon

MOST_CHANNELS = 1_000


class ChannelNotFound(NotFound):
    message = "Channel not found."


class SubscriptionViewSet(SubAccountViewSet):
    """The base plan of a sub-account."""

    def update(self, request: Request, workspace: UUID | None) -> HttpResponse:
        found = self.workspace_of(workspace)
        plan = self.plan_of(self.words(PlanChoice).validated_data["plan"])
        return json_answer({"data": card(assign_plan(workspace=found, plan=plan, now=timezone.now(), by=self.actor))})


class HeldAddonViewSet(SubAccountViewSet):
    """The add-ons that a sub-account holds."""

    def list(self, request: Request, workspace: UUID | None) -> HttpResponse:
        held = self.workspace_of(workspace).held_addons.select_related("addon").order_by("granted_at", "id")
        return json_answer({"data": [catalogue_item(one.addon) for one in held]})

    def create(self, request: Request, workspace: UUID | None) -> HttpResponse:
        found = self.workspace_of(workspace)
        addon = self.addon_of(self.words(AddonChoice).validated_data["addon"])
        granted = grant_addon(workspace=found, addon=addon, now=timezone.now(), by=self.actor)
        return json_answer({"data": catalogue_item(addon)}, status=201 if granted else 200)

    def destroy(self, request: Request, workspace: UUID | None, addon: UUID | None) -> HttpResponse:
        found = self.workspace_of(workspace)
        held = self.addon_of(addon, archived=True)
        revoke_addon(workspace=found, addon=held, now=timezone.now(), by=self.actor)
        return json_answer({"data": {"revoked": True}})


class WorkspaceChannelViewSet(SubAccountViewSet):
    """The channels of a sub-account."""

    def list(self, request: Request, workspace: UUID | None) -> HttpResponse:
        channels = self.workspace_of(workspace).channels.order_by("connected_at", "id")[:MOST_CHANNELS]
        return json_answer({"data": [channel_card(channel) for channel in channels]})

    def retrieve(self, request: Request, workspace: UUID | None, channel: UUID | None) -> HttpResponse:
        channels = self.workspace_of(workspace).channels
        found = channels.filter(uuid=channel).first() if channel else None
        if found is None:
            raise ChannelNotFound
        return json_answer({"data": channel_card(found)})
