"""The agency's plans and add-ons, as its integrations read and write them."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from agency.api.serializers import AddonSerializer, ArchivedSerializer, PlanSerializer
from agency.api.surface import AgencyViewSet
from agency.models import Addon, Plan
from agency.services import (
    AddonLimitReached,
    AddonNotFound,
    PlanIsDefault,
    PlanLimitReached,
    PlanNotFound,
    archive_item,
    create_addon,
    create_plan,
    update_item,
)
from agency.services.catalogue import MOST_ITEMS
from config.api.operations import list_response, object_response, operation


class PlanViewSet(AgencyViewSet):
    """Base plans that can be assigned to sub-accounts; an archived one reads like one that is not there."""

    lookup_url_kwarg = "plan"
    not_found = PlanNotFound

    def get_queryset(self) -> "QuerySet[Plan]":
        return Plan.objects.filter(agency=self.agency, archived_at=None)

    @operation(operation_id="listPlans", summary="List the plans", answer=list_response(PlanSerializer))
    def list(self, request: Request) -> HttpResponse:
        plans = self.get_queryset().order_by("created_at", "id")[:MOST_ITEMS]
        return self.answer(PlanSerializer(plans, many=True))

    @operation(
        operation_id="createPlan",
        summary="Create a plan",
        request=PlanSerializer,
        status=201,
        answer=object_response(PlanSerializer),
        errors={403: PlanLimitReached.message},
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        wanted: dict[str, Any] = self.validated(PlanSerializer).validated_data
        return self.answer(PlanSerializer(create_plan(agency=self.agency, by=self.actor, **wanted)), status=201)

    @operation(operation_id="readPlan", summary="Read a plan", answer=object_response(PlanSerializer))
    def retrieve(self, request: Request, plan: UUID | None) -> HttpResponse:
        return self.answer(PlanSerializer(self.get_object()))

    @operation(
        operation_id="updatePlan",
        summary="Change a plan; no sub-account changes until it is assigned again",
        request=PlanSerializer,
        answer=object_response(PlanSerializer),
    )
    def partial_update(self, request: Request, plan: UUID | None) -> HttpResponse:
        found = self.get_object()
        changes = self.validated(PlanSerializer, partial=True).changes
        return self.answer(PlanSerializer(update_item(item=found, by=self.actor, **changes)))

    @operation(
        operation_id="archivePlan",
        summary="Archive a plan; sub-accounts that have it keep it",
        answer=object_response(ArchivedSerializer),
        errors={409: PlanIsDefault.message},
    )
    def destroy(self, request: Request, plan: UUID | None) -> HttpResponse:
        archive_item(item=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(ArchivedSerializer({"archived": True}))


class AddonViewSet(AgencyViewSet):
    """Add-ons that can be granted to sub-accounts; an archived one reads like one that is not there."""

    lookup_url_kwarg = "addon"
    not_found = AddonNotFound

    def get_queryset(self) -> "QuerySet[Addon]":
        return Addon.objects.filter(agency=self.agency, archived_at=None)

    @operation(operation_id="listAddons", summary="List the add-ons", answer=list_response(AddonSerializer))
    def list(self, request: Request) -> HttpResponse:
        addons = self.get_queryset().order_by("created_at", "id")[:MOST_ITEMS]
        return self.answer(AddonSerializer(addons, many=True))

    @operation(
        operation_id="createAddon",
        summary="Create an add-on",
        request=AddonSerializer,
        status=201,
        answer=object_response(AddonSerializer),
        errors={403: AddonLimitReached.message},
        idempotent=True,
    )
    def create(self, request: Request) -> HttpResponse:
        wanted: dict[str, Any] = self.validated(AddonSerializer).validated_data
        return self.answer(AddonSerializer(create_addon(agency=self.agency, by=self.actor, **wanted)), status=201)

    @operation(operation_id="readAddon", summary="Read an add-on", answer=object_response(AddonSerializer))
    def retrieve(self, request: Request, addon: UUID | None) -> HttpResponse:
        return self.answer(AddonSerializer(self.get_object()))

    @operation(
        operation_id="updateAddon",
        summary="Change an add-on; no sub-account changes until it is granted again",
        request=AddonSerializer,
        answer=object_response(AddonSerializer),
    )
    def partial_update(self, request: Request, addon: UUID | None) -> HttpResponse:
        found = self.get_object()
        changes = self.validated(AddonSerializer, partial=True).changes
        return self.answer(AddonSerializer(update_item(item=found, by=self.actor, **changes)))

    @operation(
        operation_id="archiveAddon",
        summary="Archive an add-on; sub-accounts that hold it keep it",
        answer=object_response(ArchivedSerializer),
    )
    def destroy(self, request: Request, addon: UUID | None) -> HttpResponse:
        archive_item(item=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(ArchivedSerializer({"archived": True}))
