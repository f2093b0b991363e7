"""The agency's plans and add-ons, as its integrations read them."""

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from agency.api.shapes import CatalogueItem
from agency.api.surface import AgencyViewSet
from agency.limits import in_order
from agency.models import Addon, Plan
from config.api.responses import json_answer
from config.api.schema import Documented, many

MOST_ITEMS = 1_000


def catalogue_item(item: Plan | Addon) -> dict[str, Any]:
    """`{uuid, name, description, limits}`."""
    return {"uuid": item.uuid, "name": item.name, "description": item.description, "limits": in_order(item.limits)}


class PlanViewSet(AgencyViewSet):
    """Base plans that can be assigned to sub-accounts."""

    @Documented(operation_id="listPlans", summary="List the plans", answer=many(CatalogueItem))
    def list(self, request: Request) -> HttpResponse:
        plans = Plan.objects.filter(agency=self.agency, archived_at=None).order_by("created_at", "id")[:MOST_ITEMS]
        return json_answer({"data": [catalogue_item(plan) for plan in plans]})


class AddonViewSet(AgencyViewSet):
    """Add-ons that can be granted to sub-accounts."""

    @Documented(operation_id="listAddons", summary="List the add-ons", answer=many(CatalogueItem))
    def list(self, request: Request) -> HttpResponse:
        addons = Addon.objects.filter(agency=self.agency, archived_at=None).order_by("created_at", "id")[:MOST_ITEMS]
        return json_answer({"data": [catalogue_item(addon) for addon in addons]})
