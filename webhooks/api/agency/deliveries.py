"""Deliveries: the last thirty, one with its attempts, and once more."""

from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from agency.tenants import Tenant
from config.api.responses import json_answer
from config.api.schema import Documented, Query, many, one
from webhooks.api.agency.representations import delivery_detail, delivery_row
from webhooks.api.agency.scoped import WebhookBaseViewSet
from webhooks.api.agency.shapes import QUEUED_EXAMPLE, DeliveryDetail, DeliveryShape
from webhooks.models import Delivery, Endpoint
from webhooks.services import redeliver
from webhooks.services.deliveries import EndpointGone

SHOWN = 30
FILTERS = (
    Query("status", "Only deliveries with this status.", enum=Delivery.Status.values),
    Query("event", "Only deliveries of this event."),
)


class DeliveryViewSet(WebhookBaseViewSet):
    """What was sent, or is to be sent, to the agency's endpoints."""

    @Documented(
        operation_id="listDeliveries",
        summary="List the last 30 deliveries across endpoints",
        answer=many(DeliveryShape),
        query=FILTERS,
    )
    def list(self, request: Request) -> HttpResponse:
        return self._answer_newest()

    @Documented(
        operation_id="listWebhookDeliveries",
        summary="List the last 30 deliveries to an endpoint",
        answer=many(DeliveryShape),
        query=FILTERS,
    )
    def list_of_endpoint(self, request: Request, webhook: UUID | None) -> HttpResponse:
        return self._answer_newest(self.endpoint_of(webhook))

    def _answer_newest(self, endpoint: Endpoint | None = None) -> HttpResponse:
        newest = Delivery.objects.newest(
            SHOWN,
            tenant=Tenant(self.agency.pk),
            endpoint=endpoint,
            status=self.parameters.one_of("status", Delivery.Status.values) or "",
            event=self.parameters.text("event") or "",
        )
        return json_answer({"data": [delivery_row(delivery) for delivery in newest]})

    @Documented(
        operation_id="readDelivery",
        summary="Read a delivery with its attempts and its envelope",
        answer=one(DeliveryDetail),
    )
    def retrieve(self, request: Request, delivery: UUID | None) -> HttpResponse:
        found = self.delivery_of(delivery)
        return json_answer({"data": delivery_detail(found, list(found.attempt_log.order_by("number")))})

    @Documented(
        operation_id="redeliver",
        summary="Send the same envelope again, as a new delivery",
        status=202,
        answer=one(DeliveryShape),
        example={"data": QUEUED_EXAMPLE},
        errors={409: EndpointGone.message},
    )
    def redeliver(self, request: Request, delivery: UUID | None) -> HttpResponse:
        again = redeliver(delivery=self.delivery_of(delivery), now=timezone.now(), by=self.actor)
        return json_answer({"data": delivery_row(again)}, status=202)
