"""Webhook endpoints: registered, listed, edited, removed, their secret rotated, tested."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.decorators import action
from rest_framework.request import Request

from agency.api.surface import AgencyViewSet
from agency.event_types import event_catalogue
from agency.tenants import Tenant
from config.api.operations import many, one, operation
from webhooks.api.agency.deliveries import QUEUED, answer_newest
from webhooks.api.agency.serializers import (
    DeletedSerializer,
    DeliverySerializer,
    EventTypeSerializer,
    WebhookSerializer,
    WebhookTestSerializer,
    WebhookWithSecretSerializer,
)
from webhooks.filters import DeliveryFilterSet
from webhooks.models import Endpoint
from webhooks.services import (
    EndpointNotFound,
    register_endpoint,
    remove_endpoint,
    rotate_secret,
    send_test,
    update_endpoint,
)
from webhooks.services.deliveries import EndpointGone

MOST_ENDPOINTS = 1_000


class WebhookViewSet(AgencyViewSet):
    """The agency's webhook endpoints."""

    path = "webhooks"
    lookup_url_kwarg = "webhook"
    not_found = EndpointNotFound

    def get_queryset(self) -> "QuerySet[Endpoint]":
        return Endpoint.objects.of(self.agency)

    def context(self) -> dict[str, Any]:
        return {**super().context(), "event_catalogue": event_catalogue(self.agency)}

    @operation(operation_id="listWebhooks", summary="List the webhook endpoints", answer=many(WebhookSerializer))
    def list(self, request: Request) -> HttpResponse:
        endpoints = self.get_queryset().order_by("created_at", "id")[:MOST_ENDPOINTS]
        return self.answer(WebhookSerializer(endpoints, many=True))

    @operation(
        operation_id="registerWebhook",
        summary="Register an endpoint; its secret is shown this once",
        request=WebhookSerializer,
        status=201,
        answer=one(WebhookWithSecretSerializer),
    )
    def create(self, request: Request) -> HttpResponse:
        fields = self.validated(WebhookSerializer).validated_data
        endpoint = register_endpoint(tenant=Tenant(self.agency.pk), **fields, by=self.actor)
        return self.answer(WebhookWithSecretSerializer(endpoint), status=201)

    @operation(
        operation_id="listWebhookEvents", summary="List the events and their labels", answer=many(EventTypeSerializer)
    )
    @action(detail=False, methods=["get"])
    def events(self, request: Request) -> HttpResponse:
        catalogue = event_catalogue(self.agency).items()
        return self.answer(
            EventTypeSerializer([{"name": name, "label": label} for name, label in catalogue], many=True)
        )

    @operation(operation_id="readWebhook", summary="Read an endpoint", answer=one(WebhookSerializer))
    def retrieve(self, request: Request, webhook: UUID | None) -> HttpResponse:
        return self.answer(WebhookSerializer(self.get_object()))

    @operation(
        operation_id="updateWebhook",
        summary="Change an endpoint",
        request=WebhookSerializer,
        request_example={"enabled": False},
        answer=one(WebhookSerializer),
    )
    def partial_update(self, request: Request, webhook: UUID | None) -> HttpResponse:
        endpoint = self.get_object()
        changes = self.validated(WebhookSerializer, partial=True).changes
        return self.answer(WebhookSerializer(update_endpoint(endpoint=endpoint, by=self.actor, **changes)))

    @operation(operation_id="removeWebhook", summary="Remove an endpoint", answer=one(DeletedSerializer))
    def destroy(self, request: Request, webhook: UUID | None) -> HttpResponse:
        remove_endpoint(endpoint=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(DeletedSerializer({"deleted": True}))

    @operation(
        operation_id="rotateWebhookSecret",
        summary="Replace the signing secret; the old one signs nothing more",
        answer=one(WebhookWithSecretSerializer),
    )
    @action(detail=True, methods=["post"], url_path="rotate-secret")
    def rotate_secret(self, request: Request, webhook: UUID | None) -> HttpResponse:
        endpoint = rotate_secret(endpoint=self.get_object(), by=self.actor)
        return self.answer(WebhookWithSecretSerializer(endpoint))

    @operation(
        operation_id="testWebhook",
        summary="Send a sample event, once, marked as a test",
        request=WebhookTestSerializer,
        body_optional=True,
        status=202,
        answer=one(DeliverySerializer),
        answer_example={"data": {**QUEUED, "test": True}},
        errors={409: EndpointGone.message},
    )
    @action(detail=True, methods=["post"])
    def test(self, request: Request, webhook: UUID | None) -> HttpResponse:
        endpoint = self.get_object()
        event = self.validated(WebhookTestSerializer).validated_data["event"]
        delivery = send_test(endpoint=endpoint, event=event or endpoint.events[0], now=timezone.now(), by=self.actor)
        return self.answer(DeliverySerializer(delivery), status=202)

    @operation(
        operation_id="listWebhookDeliveries",
        summary="List the last 30 deliveries to an endpoint",
        answer=many(DeliverySerializer),
        filters=DeliveryFilterSet,
    )
    @action(detail=True, methods=["get"])
    def deliveries(self, request: Request, webhook: UUID | None) -> HttpResponse:
        return answer_newest(self, self.get_object())
