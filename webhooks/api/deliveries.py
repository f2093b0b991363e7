"""API views of deliveries for both surfaces: list the log, read one with its attempts, redeliver."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from agency.actors import Actor
from agency.tenants import Tenant
from config.api.operations import object_response, operation, page_response
from config.api.surface import SurfaceView
from config.errors import NotFound
from webhooks.api.declaring import DeclaredForSurface, declared
from webhooks.models import Delivery, Endpoint
from webhooks.services import DeliveryNotFound, EndpointGone, LogFilters, read_log, redeliver

PAGE_SIZE = 30
UNREADABLE_TIME = "A date is malformed."


class WebhookViews(DeclaredForSurface, SurfaceView[Any]):
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

    @declared(
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

    @declared(
        lambda shapes: operation(
            operation_id="readDelivery",
            summary="Read a delivery with its attempts and its envelope",
            answer=object_response(shapes.delivery_detail),
        )
    )
    def retrieve(self, request: Request, delivery: UUID | None) -> HttpResponse:
        return self.answer(self.shapes.delivery_detail(self.get_object()))

    @declared(
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
