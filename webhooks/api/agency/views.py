"""Webhooks on the agency surface."""

from collections.abc import Mapping

from django.http import HttpResponse
from rest_framework.request import Request

from agency.api import AgencyViewSet
from agency.event_types import event_catalogue
from agency.tenants import Tenant
from config.api.operations import list_response, operation
from webhooks.api.declaring import Shapes
from webhooks.api.deliveries import DeliveryViews
from webhooks.api.endpoints import EndpointViews
from webhooks.api.serializers import (
    DeliveryDetailSerializer,
    DeliverySerializer,
    EventTypeSerializer,
    ReplaySerializer,
    WebhookSerializer,
    WebhookTestSerializer,
    WebhookWithSecretSerializer,
)
from webhooks.filters import DeliveryFilterSet

SHAPES = Shapes(
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
