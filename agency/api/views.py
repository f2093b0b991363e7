"""The agency's plans and add-ons, as its integrations read them."""

from django.http import HttpResponse
from rest_framework.request import Request

from agency.api.serializers import AddonSerializer, PlanSerializer
from agency.api.surface import AgencyViewSet
from agency.models import Addon, Plan
from config.api.operations import many, operation

MOST_ITEMS = 1_000


class PlanViewSet(AgencyViewSet):
    """Base plans that can be assigned to sub-accounts."""

    path = "plans"

    @operation(operation_id="listPlans", summary="List the plans", answer=many(PlanSerializer))
    def list(self, request: Request) -> HttpResponse:
        plans = Plan.objects.filter(agency=self.agency, archived_at=None).order_by("created_at", "id")[:MOST_ITEMS]
        return self.answer(PlanSerializer(plans, many=True))


class AddonViewSet(AgencyViewSet):
    """Add-ons that can be granted to sub-accounts."""

    path = "addons"

    @operation(operation_id="listAddons", summary="List the add-ons", answer=many(AddonSerializer))
    def list(self, request: Request) -> HttpResponse:
        addons = Addon.objects.filter(agency=self.agency, archived_at=None).order_by("created_at", "id")[:MOST_ITEMS]
        return self.answer(AddonSerializer(addons, many=True))
