"""Webhook endpoints: registered, listed, edited, removed, their secret rotated, tested, sent to again."""

from typing import Any
from uuid import UUID

import orjson
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.decorators import action
from rest_framework.request import Request

from agency.api.surface import AgencyViewSet
from agency.event_types import event_catalogue
from agency.tenants import Tenant
from config.api.idempotency import Idempotency
from config.api.operations import many, one, operation, pages
from config.api.responses.json import json_response
from config.http.guard import VettedTarget
from webhooks.api.agency.deliveries import PAGE_SIZE, QUEUED, UNREADABLE_TIME, answer_log
from webhooks.api.agency.serializers import (
    DeletedSerializer,
    DeliverySerializer,
    EventTypeSerializer,
    ReplayedSerializer,
    ReplaySerializer,
    WebhookSerializer,
    WebhookTestSerializer,
    WebhookWithSecretSerializer,
)
from webhooks.filters import DeliveryFilterSet
from webhooks.models import Endpoint
from webhooks.services import (
    EndpointGone,
    EndpointNotFound,
    Replay,
    TooManyEndpoints,
    check_endpoint_url,
    register_endpoint,
    remove_endpoint,
    replay_deliveries,
    rotate_secret,
    send_test,
    update_endpoint,
)
from webhooks.services.endpoints import MOST_ENDPOINTS

REPLAY_ENDED = "The endpoint that was answered for is not there any more."


class SecretIdempotency(Idempotency):
    """Remembers an answer without its secret, which a repeated one takes from the endpoint as it is now."""

    def remembered(self, answer: HttpResponse) -> bytes:
        body = orjson.loads(answer.content)
        return orjson.dumps({"data": {**body["data"], "secret": None}})

    def replayed(self, view: Any, status: int, stored: bytes) -> HttpResponse:
        body = orjson.loads(stored)
        endpoint = view.find(view.get_queryset(), UUID(body["data"]["uuid"]), missing=EndpointNotFound)
        return json_response({"data": {**body["data"], "secret": endpoint.secret}}, status)


def vet_new_url(view: "WebhookViewSet") -> None:
    view.vetted = check_endpoint_url(view.validated(WebhookSerializer).validated_data["url"])


def vet_tested_url(view: "WebhookViewSet") -> None:
    """Check the URL of an endpoint that may be tested; of another the test itself says why not."""
    endpoint = view.get_object()
    view.validated(WebhookTestSerializer)
    if endpoint.enabled:
        view.vetted = check_endpoint_url(endpoint.url)


class WebhookViewSet(AgencyViewSet):
    """The agency's webhook endpoints."""

    path = "webhooks"
    lookup_url_kwarg = "webhook"
    not_found = EndpointNotFound
    usual_page_size = PAGE_SIZE
    vetted: VettedTarget | None = None

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
        errors={403: TooManyEndpoints.message, 404: REPLAY_ENDED},
        idempotent=SecretIdempotency(),
        prepare=vet_new_url,
    )
    def create(self, request: Request) -> HttpResponse:
        fields = self.validated(WebhookSerializer).validated_data
        endpoint = register_endpoint(tenant=Tenant(self.agency.pk), **fields, by=self.actor, vetted=self.vetted)
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
        idempotent=SecretIdempotency(),
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
        idempotent=True,
        prepare=vet_tested_url,
    )
    @action(detail=True, methods=["post"])
    def test(self, request: Request, webhook: UUID | None) -> HttpResponse:
        endpoint = self.get_object()
        event = self.validated(WebhookTestSerializer).validated_data["event"]
        sampled, now = event or endpoint.events[0], timezone.now()
        delivery = send_test(endpoint=endpoint, event=sampled, now=now, by=self.actor, vetted=self.vetted)
        return self.answer(DeliverySerializer(delivery), status=202)

    @operation(
        operation_id="replayWebhook",
        summary="Send again what the log of 30 days holds for an endpoint, or of it what failed",
        request=ReplaySerializer,
        status=202,
        answer=one(ReplayedSerializer),
        errors={409: EndpointGone.message},
        idempotent=True,
    )
    @action(detail=True, methods=["post"])
    def replay(self, request: Request, webhook: UUID | None) -> HttpResponse:
        endpoint = self.get_object()
        wanted = self.validated(ReplaySerializer).validated_data
        replay = Replay(
            tenant=endpoint.tenant,
            endpoint=endpoint,
            since=wanted["since"],
            failed_only=wanted["status"] != "all",
            events=wanted["events"],
        )
        replayed = replay_deliveries(replay, now=timezone.now(), by=self.actor)
        return self.answer(ReplayedSerializer({"count": replayed.number}), status=202)

    @operation(
        operation_id="listWebhookDeliveries",
        summary="List the deliveries to an endpoint, newest first; at most 10,000 are counted",
        answer=pages(DeliverySerializer),
        filters=DeliveryFilterSet,
        errors={422: UNREADABLE_TIME},
    )
    @action(detail=True, methods=["get"])
    def deliveries(self, request: Request, webhook: UUID | None) -> HttpResponse:
        return answer_log(self, self.get_object())
