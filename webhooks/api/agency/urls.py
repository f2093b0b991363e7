"""URLs of the agency API about webhooks."""

from django.urls import path

from webhooks.api.agency.views import DeliveryViewSet, WebhookViewSet

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
