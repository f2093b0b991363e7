"""The dashboard's pages about a workspace's webhooks."""

from collections.abc import Mapping

from django.urls import path
from django.utils.translation import gettext_lazy

from agency.event_types import event_labels
from agency.tenants import Audience, Tenant
from webhooks.pages import deliveries, endpoints
from webhooks.pages.forms import WebhookView, translated_labels
from workspaces.subaccounts.dashboard.base import OWNER_ROLES, DashboardView
from workspaces.subaccounts.services import tenant_of

FORM = "pages/dashboard/form.html"


class OfWorkspace(WebhookView, DashboardView):
    """The workspace's own endpoints, which only its owner changes: they take what happens in it elsewhere."""

    area = "app"
    nav = "app:webhooks"
    writers = OWNER_ROLES
    lead = gettext_lazy("Signed messages to your own systems whenever something happens in your workspace.")
    hides = ("workspace",)

    @property
    def tenant(self) -> Tenant:
        return tenant_of(self.workspace)

    @property
    def catalogue(self) -> Mapping[str, str]:
        return translated_labels(event_labels(Audience.WORKSPACE))


class Webhooks(endpoints.Webhooks, OfWorkspace):
    pass


class WebhookPage(endpoints.WebhookPage, OfWorkspace):
    pass


class WebhookNew(endpoints.WebhookNew, OfWorkspace):
    template_name = FORM
    writers_only = True


class WebhookEdit(endpoints.WebhookEdit, OfWorkspace):
    template_name = FORM
    writers_only = True


class WebhookRotate(endpoints.WebhookRotate, OfWorkspace):
    template_name = FORM
    writers_only = True


class WebhookRemove(endpoints.WebhookRemove, OfWorkspace):
    template_name = FORM
    writers_only = True


class WebhookDismiss(endpoints.WebhookDismiss, OfWorkspace):
    template_name = FORM
    writers_only = True


class DeliveryPage(deliveries.DeliveryPage, OfWorkspace):
    pass


class WebhookTest(deliveries.WebhookTest, OfWorkspace):
    form_page = "app:webhook"


class DeliveryRedeliver(deliveries.DeliveryRedeliver, OfWorkspace):
    form_page = "app:webhook-delivery"


class RedeliverFailed(deliveries.RedeliverFailed, OfWorkspace):
    writers_only = True


class Redelivery(deliveries.Redelivery, OfWorkspace):
    pass


urlpatterns = [
    path("webhooks", Webhooks.as_view(), name="webhooks"),
    path("webhooks/new", WebhookNew.as_view(), name="webhook-new"),
    path("webhooks/redeliver-failed", RedeliverFailed.as_view(), name="webhook-redeliver-failed"),
    path("webhooks/redeliveries/<str:token>", Redelivery.as_view(), name="webhook-redelivery"),
    path("webhooks/deliveries/<id:uuid>", DeliveryPage.as_view(), name="webhook-delivery"),
    path("webhooks/deliveries/<id:uuid>/redeliver", DeliveryRedeliver.as_view(), name="webhook-redeliver"),
    path("webhooks/<id:uuid>", WebhookPage.as_view(), name="webhook"),
    path("webhooks/<id:uuid>/edit", WebhookEdit.as_view(), name="webhook-edit"),
    path("webhooks/<id:uuid>/rotate", WebhookRotate.as_view(), name="webhook-rotate"),
    path("webhooks/<id:uuid>/remove", WebhookRemove.as_view(), name="webhook-remove"),
    path("webhooks/<id:uuid>/dismiss", WebhookDismiss.as_view(), name="webhook-dismiss"),
    path("webhooks/<id:uuid>/test", WebhookTest.as_view(), name="webhook-test"),
]
