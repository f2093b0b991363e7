"""Pages about webhooks, below `/console/` and in the console's namespace."""

from django.urls import path

import config.api.requests.ids  # noqa: F401 - makes `<id:…>` known
from webhooks.console.views import deliveries, endpoints

urlpatterns = [
    path("webhooks", endpoints.Webhooks.as_view(), name="webhooks"),
    path("webhooks/new", endpoints.WebhookNew.as_view(), name="webhook-new"),
    path("webhooks/redeliver-failed", deliveries.RedeliverFailed.as_view(), name="webhook-redeliver-failed"),
    path("webhooks/redeliveries/<str:token>", deliveries.Redelivery.as_view(), name="webhook-redelivery"),
    path("webhooks/deliveries/<id:uuid>", deliveries.DeliveryPage.as_view(), name="webhook-delivery"),
    path("webhooks/deliveries/<id:uuid>/redeliver", deliveries.DeliveryRedeliver.as_view(), name="webhook-redeliver"),
    path("webhooks/<id:uuid>", endpoints.WebhookPage.as_view(), name="webhook"),
    path("webhooks/<id:uuid>/edit", endpoints.WebhookEdit.as_view(), name="webhook-edit"),
    path("webhooks/<id:uuid>/rotate", endpoints.WebhookRotate.as_view(), name="webhook-rotate"),
    path("webhooks/<id:uuid>/remove", endpoints.WebhookRemove.as_view(), name="webhook-remove"),
    path("webhooks/<id:uuid>/test", deliveries.WebhookTest.as_view(), name="webhook-test"),
]
