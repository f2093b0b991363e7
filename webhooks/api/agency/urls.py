"""Paths of the agency surface about webhooks."""

from typing import Any

from django.urls import path

from webhooks.api.agency.deliveries import DeliveryViewSet
from webhooks.api.agency.endpoints import EventCatalogueViewSet, WebhookViewSet

ONE: dict[str, Any] = {"get": "retrieve", "patch": "partial_update", "delete": "destroy"}

urlpatterns = [
    path("webhooks", WebhookViewSet.as_view({"get": "list", "post": "create"}), name="webhooks"),
    path("webhooks/events", EventCatalogueViewSet.as_view({"get": "list"}), name="webhook-events"),
    path("webhooks/deliveries", DeliveryViewSet.as_view({"get": "list"}), name="deliveries"),
    path("webhooks/deliveries/<id:delivery>", DeliveryViewSet.as_view({"get": "retrieve"}), name="delivery"),
    path(
        "webhooks/deliveries/<id:delivery>/redeliver",
        DeliveryViewSet.as_view({"post": "redeliver"}, body_optional=True),
        name="delivery-redeliver",
    ),
    path("webhooks/<id:webhook>", WebhookViewSet.as_view(ONE), name="webhook"),
    path(
        "webhooks/<id:webhook>/rotate-secret",
        WebhookViewSet.as_view({"post": "rotate"}, body_optional=True),
        name="webhook-rotate-secret",
    ),
    path(
        "webhooks/<id:webhook>/test", WebhookViewSet.as_view({"post": "test"}, body_optional=True), name="webhook-test"
    ),
    path(
        "webhooks/<id:webhook>/deliveries",
        DeliveryViewSet.as_view({"get": "list_of_endpoint"}),
        name="webhook-deliveries",
    ),
]
