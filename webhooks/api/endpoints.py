"""API views of endpoints for both surfaces: register, list, edit, remove, rotate the secret, test, replay."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from config.api.idempotency import Idempotency
from config.api.operations import list_response, object_response, operation, page_response
from config.api.requests import MAX_PAGE_SIZE, Page, read_page
from config.api.responses import json_response
from config.api.serializers import DeletedSerializer
from config.http.guard import VettedTarget
from webhooks.api.declaring import declared
from webhooks.api.deliveries import UNREADABLE_TIME, WebhookViews
from webhooks.api.serializers import ReplayedSerializer, RotationSerializer
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
from webhooks.services.samples import sampled_event

REPLAY_ENDED = "The endpoint that was answered for is not there any more."


class SecretIdempotency(Idempotency):
    """Stores an answer without its secret. A repeated request gets the endpoint's current secret."""

    def remembered(self, answer: HttpResponse) -> bytes:
        body = orjson.loads(answer.content)
        return orjson.dumps({"data": {**body["data"], "secret": None}})

    def replayed(self, view: Any, status: int, stored: bytes) -> HttpResponse:
        body = orjson.loads(stored)
        endpoint = view.find(view.get_queryset(), UUID(body["data"][view.shapes.id_name]), missing=EndpointNotFound)
        return json_response({"data": {**body["data"], "secret": endpoint.secret}}, status)


def vet_new_url(view: "EndpointViews") -> None:
    view.vetted = check_endpoint_url(view.validated(view.shapes.endpoint).validated_data["url"])


def vet_tested_url(view: "EndpointViews") -> None:
    """Check the URL of an enabled endpoint. For a disabled one, the test itself raises the reason."""
    endpoint = view.get_object()
    view.validated(view.shapes.test)
    if endpoint.enabled:
        view.vetted = check_endpoint_url(endpoint.url)


class EndpointViews(WebhookViews):
    """The tenant's webhook endpoints."""

    lookup_url_kwarg = "webhook"
    not_found = EndpointNotFound
    vetted: VettedTarget | None = None

    def get_queryset(self) -> "QuerySet[Endpoint]":
        return Endpoint.objects.of_tenant(self.tenant)

    def context(self) -> dict[str, Any]:
        return {**super().context(), "event_catalogue": self.event_catalogue()}

    def event_catalogue(self) -> Mapping[str, str]:
        """Give the labels of what the tenant may subscribe to, by name."""
        raise NotImplementedError

    def whole_page(self) -> Page:
        """Give the page asked for of a short list: all of it, unless another size is asked for."""
        return read_page(self.parameters, limit_alias=self.limit_alias, usual_size=MAX_PAGE_SIZE)

    @declared(
        lambda shapes: operation(
            operation_id="listWebhooks",
            summary="List the webhook endpoints",
            answer=page_response(shapes.endpoint) if shapes.has_pages else list_response(shapes.endpoint),
        )
    )
    def list(self, request: Request) -> HttpResponse:
        endpoints = self.get_queryset().order_by("created_at", "id")[:MOST_ENDPOINTS]
        if self.shapes.has_pages:
            self.page = self.whole_page()
            return self.page_of(endpoints, self.shapes.endpoint)
        return self.answer(self.shapes.endpoint(endpoints, many=True))

    @declared(
        lambda shapes: operation(
            operation_id="registerWebhook",
            summary="Register an endpoint; its secret is shown this once",
            request=shapes.endpoint,
            status=201,
            answer=object_response(shapes.endpoint_with_secret),
            errors={403: TooManyEndpoints.message, 404: REPLAY_ENDED},
            idempotent=SecretIdempotency(),
            prepare=vet_new_url,
        )
    )
    def create(self, request: Request) -> HttpResponse:
        fields = self.validated(self.shapes.endpoint).validated_data
        endpoint = register_endpoint(tenant=self.tenant, **fields, by=self.actor, vetted=self.vetted)
        return self.answer(self.shapes.endpoint_with_secret(endpoint), status=201)

    @declared(
        lambda shapes: operation(
            operation_id="readWebhook",
            summary="Read an endpoint",
            answer=object_response(shapes.endpoint),
        )
    )
    def retrieve(self, request: Request, webhook: UUID | None) -> HttpResponse:
        return self.answer(self.shapes.endpoint(self.get_object()))

    @declared(
        lambda shapes: operation(
            operation_id="updateWebhook",
            summary="Change an endpoint",
            request=shapes.endpoint,
            request_example={"description": "CRM of the north"},
            answer=object_response(shapes.endpoint),
        )
    )
    def partial_update(self, request: Request, webhook: UUID | None) -> HttpResponse:
        endpoint = self.get_object()
        changes = self.validated(self.shapes.endpoint, partial=True).changes
        return self.answer(self.shapes.endpoint(update_endpoint(endpoint=endpoint, by=self.actor, **changes)))

    @declared(
        lambda shapes: operation(
            operation_id="removeWebhook",
            summary="Remove an endpoint",
            answer=object_response(DeletedSerializer),
        )
    )
    def destroy(self, request: Request, webhook: UUID | None) -> HttpResponse:
        remove_endpoint(endpoint=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(DeletedSerializer({"deleted": True}))

    @declared(
        lambda shapes: operation(
            operation_id="rotateWebhookSecret",
            summary="Replace the signing secret; the old one signs nothing more, or for some hours beside it",
            request=RotationSerializer,
            body_optional=True,
            answer=object_response(shapes.endpoint_with_secret),
            idempotent=SecretIdempotency(),
        )
    )
    def rotate_secret(self, request: Request, webhook: UUID | None) -> HttpResponse:
        found = self.get_object()
        hours = self.validated(RotationSerializer).validated_data["overlap_hours"]
        endpoint = rotate_secret(endpoint=found, by=self.actor, overlap_hours=hours)
        return self.answer(self.shapes.endpoint_with_secret(endpoint))

    @declared(
        lambda shapes: operation(
            operation_id="testWebhook",
            summary="Send a sample event, once, marked as a test",
            request=shapes.test,
            body_optional=True,
            status=202,
            answer=object_response(shapes.delivery),
            answer_example={"data": {**shapes.queued, "test": True}},
            errors={409: EndpointGone.message},
            idempotent=True,
            prepare=vet_tested_url,
        )
    )
    def test(self, request: Request, webhook: UUID | None) -> HttpResponse:
        endpoint = self.get_object()
        event = self.validated(self.shapes.test).validated_data["event"]
        sampled, now = sampled_event(endpoint, event, self.event_catalogue()), timezone.now()
        delivery = send_test(endpoint=endpoint, event=sampled, now=now, by=self.actor, vetted=self.vetted)
        return self.answer(self.shapes.delivery(delivery), status=202)

    @declared(
        lambda shapes: operation(
            operation_id="replayWebhook",
            summary="Send again what the log of 30 days holds for an endpoint, or of it what failed",
            request=shapes.replay,
            status=202,
            answer=object_response(ReplayedSerializer),
            errors={409: EndpointGone.message},
            idempotent=True,
        )
    )
    def replay(self, request: Request, webhook: UUID | None) -> HttpResponse:
        endpoint = self.get_object()
        wanted = self.validated(self.shapes.replay).validated_data
        replay = Replay(
            tenant=endpoint.tenant,
            endpoint=endpoint,
            since=wanted["since"],
            failed_only=wanted["status"] != "all",
            events=wanted["events"],
        )
        replayed = replay_deliveries(replay, now=timezone.now(), by=self.actor)
        return self.answer(ReplayedSerializer({"count": replayed.number}), status=202)

    @declared(
        lambda shapes: operation(
            operation_id="listWebhookDeliveries",
            summary="List the deliveries to an endpoint, newest first; at most 10,000 are counted",
            answer=page_response(shapes.delivery),
            filters=shapes.filters,
            errors={422: UNREADABLE_TIME},
        )
    )
    def deliveries(self, request: Request, webhook: UUID | None) -> HttpResponse:
        return self.answer_log(self.get_object())
