"""URLs of the pages about webhooks, below `/app/` and in the namespace `app`."""

from django.urls import path

from webhooks.dashboard import views

urlpatterns = [
    path("webhooks", views.Webhooks.as_view(), name="webhooks"),
    path("webhooks/new", views.WebhookNew.as_view(), name="webhook-new"),
    path("webhooks/redeliver-failed", views.RedeliverFailed.as_view(), name="webhook-redeliver-failed"),
    path("webhooks/redeliveries/<str:token>", views.Redelivery.as_view(), name="webhook-redelivery"),
    path("webhooks/deliveries/<id:uuid>", views.DeliveryPage.as_view(), name="webhook-delivery"),
    path("webhooks/deliveries/<id:uuid>/redeliver", views.DeliveryRedeliver.as_view(), name="webhook-redeliver"),
    path("webhooks/<id:uuid>", views.WebhookPage.as_view(), name="webhook"),
    path("webhooks/<id:uuid>/edit", views.WebhookEdit.as_view(), name="webhook-edit"),
    path("webhooks/<id:uuid>/rotate", views.WebhookRotate.as_view(), name="webhook-rotate"),
    path("webhooks/<id:uuid>/remove", views.WebhookRemove.as_view(), name="webhook-remove"),
    path("webhooks/<id:uuid>/dismiss", views.WebhookDismiss.as_view(), name="webhook-dismiss"),
    path("webhooks/<id:uuid>/test", views.WebhookTest.as_view(), name="webhook-test"),
]
