"""Deliveries: the log in pages, one with its attempts, and once more."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.decorators import action
from rest_framework.request import Request

from agency.api.surface import AgencyViewSet
from agency.tenants import Tenant
from config.api.operations import one, operation, pages
from config.errors import NotFound
from webhooks.api.agency.serializers import DeliveryDetailSerializer, DeliverySerializer
from webhooks.filters import DeliveryFilterSet
from webhooks.models import Delivery, Endpoint
from webhooks.services import DeliveryNotFound, EndpointGone, LogFilters, read_log, redeliver

PAGE_SIZE = 30
UNREADABLE_TIME = "A date is malformed."
QUEUED = {
    **DeliverySerializer.example(),
    "status": "pending",
    "attempts": 0,
    "response_status": None,
    "next_attempt_at": "2026-11-20T09:30:00Z",
    "completed_at": None,
}


def answer_log(view: AgencyViewSet, endpoint: Endpoint | None = None) -> HttpResponse:
    """Answer the page asked for of the deliveries that the filters ask for, of one endpoint or of all."""
    asked = DeliveryFilterSet.values(view.parameters)
    filters = LogFilters(tenant=Tenant(view.agency.pk), endpoint=endpoint, **asked)
    rows, total = read_log(filters, offset=view.page.offset, size=view.page.size)
    return view.paged(DeliverySerializer(rows, many=True), total)


class DeliveryViewSet(AgencyViewSet):
    """What was sent, or is to be sent, to the agency's endpoints."""

    path = "webhooks/deliveries"
    lookup_url_kwarg = "delivery"
    not_found = DeliveryNotFound
    usual_page_size = PAGE_SIZE

    def get_queryset(self) -> "QuerySet[Delivery]":
        return Delivery.objects.of(self.agency).select_related("endpoint", "event", "queued")

    def find(self, rows: Any, uuid: UUID | None, *, missing: type[NotFound]) -> Any:
        found = rows.with_uuid(uuid) if uuid else None
        if found is None:
            raise missing
        return found

    @operation(
        operation_id="listDeliveries",
        summary="List the deliveries across endpoints, newest first; at most 10,000 are counted",
        answer=pages(DeliverySerializer),
        filters=DeliveryFilterSet,
        errors={422: UNREADABLE_TIME},
    )
    def list(self, request: Request) -> HttpResponse:
        return answer_log(self)

    @operation(
        operation_id="readDelivery",
        summary="Read a delivery with its attempts and its envelope",
        answer=one(DeliveryDetailSerializer),
    )
    def retrieve(self, request: Request, delivery: UUID | None) -> HttpResponse:
        return self.answer(DeliveryDetailSerializer(self.get_object()))

    @operation(
        operation_id="redeliver",
        summary="Send the same envelope again, as a new delivery",
        status=202,
        answer=one(DeliverySerializer),
        answer_example={"data": QUEUED},
        errors={409: EndpointGone.message},
        idempotent=True,
    )
    @action(detail=True, methods=["post"])
    def redeliver(self, request: Request, delivery: UUID | None) -> HttpResponse:
        again = redeliver(delivery=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(DeliverySerializer(again), status=202)
