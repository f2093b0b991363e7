"""API views of endpoints and deliveries for both surfaces, and the filters of the delivery log."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson
from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from agency.actors import Actor
from agency.tenants import Tenant
from config.api.filters import ChoiceFilter, DateTimeFilter, FilterSet, TextFilter, UUIDFilter
from config.api.idempotency import Idempotency
from config.api.operations import list_response, object_response, operation, page_response
from config.api.requests import MAX_PAGE_SIZE, Page, read_page
from config.api.responses import json_response
from config.api.serializers import DeletedSerializer
from config.api.surface import SurfaceView
from config.errors import NotFound
from config.http.guard import VettedTarget
from webhooks.api.serializers import ReplayedSerializer, RotationSerializer, SurfaceOperationsMixin, surface_operation
from webhooks.models import Delivery, Endpoint
from webhooks.services.deliveries import (
    DeliveryNotFound,
    EndpointGone,
    Replay,
    choose_sample_event,
    redeliver,
    replay_deliveries,
    send_test,
)
from webhooks.services.endpoints import (
    MOST_ENDPOINTS,
    EndpointNotFound,
    TooManyEndpoints,
    check_endpoint_url,
    register_endpoint,
    remove_endpoint,
    rotate_secret,
    update_endpoint,
)
from webhooks.services.log import LogFilters, read_log

PAGE_SIZE = 30
UNREADABLE_TIME = "A date is malformed."


class WebhookViews(SurfaceOperationsMixin, SurfaceView[Any]):
    """What a surface gives for its views about webhooks: whose they are, and who acts."""

    usual_page_size = PAGE_SIZE

    @property
    def tenant(self) -> Tenant:
        raise NotImplementedError

    @property
    def actor(self) -> Actor:
        raise NotImplementedError

    def answer_log(self, endpoint: Endpoint | None = None) -> HttpResponse:
        """Answer the page asked for of the deliveries that the filters ask for, of one endpoint or of all."""
        asked = self.shapes.filters.values(self.parameters)
        filters = LogFilters(tenant=self.tenant, endpoint=endpoint, **asked)
        rows, total = read_log(filters, offset=self.page.offset, size=self.page.size)
        return self.paged(self.shapes.delivery(rows, many=True), total)


class DeliveryViews(WebhookViews):
    """What was sent, or is to be sent, to the tenant's endpoints."""

    lookup_url_kwarg = "delivery"
    not_found = DeliveryNotFound

    def get_queryset(self) -> "QuerySet[Delivery]":
        return Delivery.objects.of_tenant(self.tenant).select_related("endpoint", "event", "queued")

    def find(self, rows: Any, uuid: UUID | None, *, missing: type[NotFound]) -> Any:
        found = rows.with_uuid(uuid) if uuid else None
        if found is None:
            raise missing
        return found

    @surface_operation(
        lambda shapes: operation(
            operation_id="listDeliveries",
            summary="List the deliveries across endpoints, newest first; at most 10,000 are counted",
            answer=page_response(shapes.delivery),
            filters=shapes.filters,
            errors={422: UNREADABLE_TIME},
        )
    )
    def list(self, request: Request) -> HttpResponse:
        return self.answer_log()

    @surface_operation(
        lambda shapes: operation(
            operation_id="readDelivery",
            summary="Read a delivery with its attempts and its envelope",
            answer=object_response(shapes.delivery_detail),
        )
    )
    def retrieve(self, request: Request, delivery: UUID | None) -> HttpResponse:
        return self.answer(self.shapes.delivery_detail(self.get_object()))

    @surface_operation(
        lambda shapes: operation(
            operation_id="redeliver",
            summary="Send the same envelope again, as a new delivery",
            status=202,
            answer=object_response(shapes.delivery),
            answer_example={"data": shapes.queued},
            errors={409: EndpointGone.message},
            idempotent=True,
        )
    )
    def redeliver(self, request: Request, delivery: UUID | None) -> HttpResponse:
        again = redeliver(delivery=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(self.shapes.delivery(again), status=202)


REPLAY_ENDED = "The endpoint that was answered for is not there any more."


class SecretIdempotency(Idempotency["EndpointViews"]):
    """Stores an answer without its secret. A repeated request gets the endpoint's current secret."""

    def remembered(self, answer: HttpResponse) -> bytes:
        body = orjson.loads(answer.content)
        return orjson.dumps({"data": {**body["data"], "secret": None}})

    def replayed(self, view: "EndpointViews", status: int, stored: bytes) -> HttpResponse:
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

    def context(self) -> dict[str, object]:
        return {**super().context(), "event_catalogue": self.event_catalogue()}

    def event_catalogue(self) -> Mapping[str, str]:
        """Give the labels of what the tenant may subscribe to, by name."""
        raise NotImplementedError

    def whole_page(self) -> Page:
        """Give the page asked for of a short list: all of it, unless another size is asked for."""
        return read_page(self.parameters, limit_alias=self.limit_alias, usual_size=MAX_PAGE_SIZE)

    @surface_operation(
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

    @surface_operation(
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

    @surface_operation(
        lambda shapes: operation(
            operation_id="readWebhook", summary="Read an endpoint", answer=object_response(shapes.endpoint)
        )
    )
    def retrieve(self, request: Request, webhook: UUID | None) -> HttpResponse:
        return self.answer(self.shapes.endpoint(self.get_object()))

    @surface_operation(
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

    @surface_operation(
        lambda shapes: operation(
            operation_id="removeWebhook", summary="Remove an endpoint", answer=object_response(DeletedSerializer)
        )
    )
    def destroy(self, request: Request, webhook: UUID | None) -> HttpResponse:
        remove_endpoint(endpoint=self.get_object(), now=timezone.now(), by=self.actor)
        return self.answer(DeletedSerializer({"deleted": True}))

    @surface_operation(
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

    @surface_operation(
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
        sampled, now = choose_sample_event(endpoint, event, self.event_catalogue()), timezone.now()
        delivery = send_test(endpoint=endpoint, event=sampled, now=now, by=self.actor, vetted=self.vetted)
        return self.answer(self.shapes.delivery(delivery), status=202)

    @surface_operation(
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

    @surface_operation(
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


class WorkspaceDeliveryFilterSet(FilterSet):
    """`services.log.LogFilters` takes the values by these names, as the log is not read by a queryset."""

    status = ChoiceFilter(choices=Delivery.Status.choices, help_text="Only deliveries with this status.")
    event = TextFilter(help_text="Only deliveries of this event.")
    envelope_id = UUIDFilter(help_text="Only deliveries of this envelope: the first, and each time it was sent again.")
    created_after = DateTimeFilter(help_text="Only deliveries made at this time or later.")
    created_before = DateTimeFilter(help_text="Only deliveries made before this time.")

    class Meta:
        model = Delivery
        fields: tuple[str, ...] = ()


class DeliveryFilterSet(WorkspaceDeliveryFilterSet):
    """An agency's events may be about one of its sub-accounts."""

    workspace = UUIDFilter(help_text="Only deliveries whose event is about this sub-account.")
