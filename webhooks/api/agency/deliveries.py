"""Deliveries: the last thirty, one with its attempts, and once more."""

from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from config.api.responses import json_answer
from webhooks.api.agency.representations import delivery_detail, delivery_row
from webhooks.api.agency.scoped import WebhookBaseViewSet
from webhooks.models import Delivery
from webhooks.services import redeliver

SHOWN = 30


class DeliveryViewSet(WebhookBaseViewSet):
    """What was sent, or is to be sent, to the agency's endpoints."""

    def list(self, request: Request, webhook: UUID | None = None) -> HttpResponse:
        deliveries = Delivery.objects.of(self.agency)
        if "webhook" in self.kwargs:
            deliveries = deliveries.filter(endpoint=self.endpoint_of(webhook))
        if status := self.parameters.one_of("status", Delivery.Status.values):
            deliveries = deliveries.filter(status=status)
        if event := self.parameters.text("event"):
            deliveries = deliveries.filter(event_name=event)
        return json_answer({"data": [delivery_row(delivery) for delivery in deliveries.newest(SHOWN)]})

    def retrieve(self, request: Request, delivery: UUID | None) -> HttpResponse:
        found = self.delivery_of(delivery)
        return json_answer({"data": delivery_detail(found, list(found.attempt_log.order_by("number", "id")))})

    def redeliver(self, request: Request, delivery: UUID | None) -> HttpResponse:
        again = redeliver(delivery=self.delivery_of(delivery), now=timezone.now(), by=self.actor)
        return json_answer({"data": delivery_row(again)}, status=202)
