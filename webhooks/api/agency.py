"""The agency API about webhooks."""

from collections.abc import Mapping

from django.http import HttpResponse
from django.urls import path
from rest_framework.request import Request

from agency.api import AgencyViewSet
from agency.event_types import event_catalogue
from agency.tenants import Tenant
from config.api.operations import list_response, operation
from webhooks.api.serializers import (
    DeliveryDetailSerializer,
    DeliverySerializer,
    EventTypeSerializer,
    ReplaySerializer,
    SurfaceSerializers,
    WebhookSerializer,
    WebhookTestSerializer,
    WebhookWithSecretSerializer,
)
from webhooks.api.views import DeliveryFilterSet, DeliveryViews, EndpointViews

SHAPES = SurfaceSerializers(
    endpoint=WebhookSerializer,
    endpoint_with_secret=WebhookWithSecretSerializer,
    test=WebhookTestSerializer,
    replay=ReplaySerializer,
    delivery=DeliverySerializer,
    delivery_detail=DeliveryDetailSerializer,
    filters=DeliveryFilterSet,
    id_name="uuid",
)


class OfAgency(AgencyViewSet):
    """Whatever is looked up is the agency's own, none of its workspaces'."""

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.agency.pk)


class WebhookViewSet(OfAgency, EndpointViews):
    """The agency's webhook endpoints."""

    shapes = SHAPES

    def event_catalogue(self) -> Mapping[str, str]:
        return event_catalogue(self.agency)

    @operation(
        operation_id="listWebhookEvents",
        summary="List the events and their labels",
        answer=list_response(EventTypeSerializer),
    )
    def events(self, request: Request) -> HttpResponse:
        catalogue = self.event_catalogue().items()
        return self.answer(
            EventTypeSerializer([{"name": name, "label": label} for name, label in catalogue], many=True)
        )


class DeliveryViewSet(OfAgency, DeliveryViews):
    """What was sent, or is to be sent, to the agency's endpoints."""

    shapes = SHAPES


urlpatterns = [
    path("webhooks", WebhookViewSet.as_view({"get": "list", "post": "create"}), name="webhooks-list"),
    path("webhooks/events", WebhookViewSet.as_view({"get": "events"}), name="webhooks-events"),
    path("webhooks/deliveries", DeliveryViewSet.as_view({"get": "list"}), name="webhooks-deliveries-list"),
    path(
        "webhooks/deliveries/<id:delivery>",
        DeliveryViewSet.as_view({"get": "retrieve"}),
        name="webhooks-deliveries-detail",
    ),
    path(
        "webhooks/deliveries/<id:delivery>/redeliver",
        DeliveryViewSet.as_view({"post": "redeliver"}),
        name="webhooks-deliveries-redeliver",
    ),
    path(
        "webhooks/<id:webhook>",
        WebhookViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="webhooks-detail",
    ),
    path("webhooks/<id:webhook>/deliveries", WebhookViewSet.as_view({"get": "deliveries"}), name="webhooks-deliveries"),
    path("webhooks/<id:webhook>/replay", WebhookViewSet.as_view({"post": "replay"}), name="webhooks-replay"),
    path(
        "webhooks/<id:webhook>/rotate-secret",
        WebhookViewSet.as_view({"post": "rotate_secret"}),
        name="webhooks-rotate-secret",
    ),
    path("webhooks/<id:webhook>/test", WebhookViewSet.as_view({"post": "test"}), name="webhooks-test"),
]
