"""Webhook endpoints: registered, listed, edited, removed, their secret rotated, tested."""

from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from agency.api.surface import AgencyViewSet
from agency.tenants import Tenant
from config.api.responses import json_answer
from config.api.schema import Documented, many, one
from webhooks.api.agency.representations import delivery_row, endpoint_card
from webhooks.api.agency.scoped import WebhookBaseViewSet
from webhooks.api.agency.shapes import (
    QUEUED_EXAMPLE,
    Deleted,
    DeliveryShape,
    EventLabel,
    WebhookShape,
    WebhookWithSecret,
)
from webhooks.api.agency.words import EndpointWords, TestWords, endpoint_words, test_words
from webhooks.models import Endpoint
from webhooks.services import (
    event_catalogue,
    register_endpoint,
    remove_endpoint,
    rotate_secret,
    send_test,
    update_endpoint,
)
from webhooks.services.deliveries import EndpointGone

MOST_ENDPOINTS = 1_000


class EventCatalogueViewSet(AgencyViewSet):
    """The events that an endpoint may subscribe to."""

    @Documented(operation_id="listWebhookEvents", summary="List the events and their labels", answer=many(EventLabel))
    def list(self, request: Request) -> HttpResponse:
        catalogue = event_catalogue(self.agency)
        return json_answer({"data": [{"event": event, "label": label} for event, label in catalogue.items()]})


class WebhookViewSet(WebhookBaseViewSet):
    """The agency's webhook endpoints."""

    @Documented(operation_id="listWebhooks", summary="List the webhook endpoints", answer=many(WebhookShape))
    def list(self, request: Request) -> HttpResponse:
        endpoints = Endpoint.objects.of(self.agency).order_by("created_at", "id")[:MOST_ENDPOINTS]
        return json_answer({"data": [endpoint_card(endpoint) for endpoint in endpoints]})

    @Documented(
        operation_id="registerWebhook",
        summary="Register an endpoint; its secret is shown this once",
        body=EndpointWords,
        body_example={"url": "https://hooks.example.com/agency", "events": ["workspace.created"]},
        status=201,
        answer=one(WebhookWithSecret),
    )
    def create(self, request: Request) -> HttpResponse:
        words = self.words(endpoint_words(event_catalogue(self.agency))).validated_data
        endpoint = register_endpoint(
            tenant=Tenant(self.agency.pk),
            url=words["url"],
            events=words["events"],
            description=words.get("description") or "",
            enabled=words.get("enabled", True),
            by=self.actor,
        )
        return json_answer({"data": endpoint_card(endpoint, with_secret=True)}, status=201)

    @Documented(operation_id="readWebhook", summary="Read an endpoint", answer=one(WebhookShape))
    def retrieve(self, request: Request, webhook: UUID | None) -> HttpResponse:
        return json_answer({"data": endpoint_card(self.endpoint_of(webhook))})

    @Documented(
        operation_id="updateWebhook",
        summary="Change an endpoint",
        body=EndpointWords,
        body_example={"enabled": False},
        answer=one(WebhookShape),
    )
    def partial_update(self, request: Request, webhook: UUID | None) -> HttpResponse:
        endpoint = self.endpoint_of(webhook)
        changes = self.words(endpoint_words(event_catalogue(self.agency)), partial=True).changes
        if "description" in changes:
            changes["description"] = changes["description"] or ""
        return json_answer({"data": endpoint_card(update_endpoint(endpoint=endpoint, by=self.actor, **changes))})

    @Documented(operation_id="removeWebhook", summary="Remove an endpoint", answer=one(Deleted))
    def destroy(self, request: Request, webhook: UUID | None) -> HttpResponse:
        remove_endpoint(endpoint=self.endpoint_of(webhook), now=timezone.now(), by=self.actor)
        return json_answer({"data": {"deleted": True}})

    @Documented(
        operation_id="rotateWebhookSecret",
        summary="Replace the signing secret; the old one signs nothing more",
        answer=one(WebhookWithSecret),
    )
    def rotate(self, request: Request, webhook: UUID | None) -> HttpResponse:
        endpoint = rotate_secret(endpoint=self.endpoint_of(webhook), by=self.actor)
        return json_answer({"data": endpoint_card(endpoint, with_secret=True)})

    @Documented(
        operation_id="testWebhook",
        summary="Send a sample event, once, marked as a test",
        body=TestWords,
        body_example={"event": "workspace.created"},
        status=202,
        answer=one(DeliveryShape),
        example={"data": {**QUEUED_EXAMPLE, "test": True}},
        errors={409: EndpointGone.message},
    )
    def test(self, request: Request, webhook: UUID | None) -> HttpResponse:
        endpoint = self.endpoint_of(webhook)
        event = self.words(test_words(event_catalogue(self.agency))).validated_data.get("event")
        delivery = send_test(endpoint=endpoint, event=event or endpoint.events[0], now=timezone.now(), by=self.actor)
        return json_answer({"data": delivery_row(delivery)}, status=202)
