"""The pages about a workspace's webhooks, in the dashboard."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext_lazy

from agency.event_types import event_labels
from agency.tenants import Audience, Tenant
from webhooks.pages import deliveries, endpoints
from webhooks.pages.base import WebhookView
from workspaces.subaccounts.dashboard.surface import DashboardView
from workspaces.subaccounts.services import tenant_of

FORM = "pages/dashboard/form.html"
FRAME = {
    "frame": "pages/dashboard/base.html",
    "hidden_fields": "pages/dashboard/_hidden_fields.html",
    "may_write": True,
}


class OfWorkspace(WebhookView, DashboardView):
    """The workspace's own endpoints."""

    area = "app"
    nav = "app:webhooks"
    lead = gettext_lazy("Signed messages to your own systems whenever something happens in your workspace.")
    hides = ("workspace",)

    @property
    def tenant(self) -> Tenant:
        return tenant_of(self.workspace)

    @property
    def catalogue(self) -> Mapping[str, str]:
        return event_labels(Audience.WORKSPACE)

    def page(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        return super().page(template, status=status, **FRAME, **context)


class Webhooks(endpoints.Webhooks, OfWorkspace):
    pass


class WebhookPage(endpoints.WebhookPage, OfWorkspace):
    pass


class WebhookNew(endpoints.WebhookNew, OfWorkspace):
    template_name = FORM


class WebhookEdit(endpoints.WebhookEdit, OfWorkspace):
    template_name = FORM


class WebhookRotate(endpoints.WebhookRotate, OfWorkspace):
    template_name = FORM


class WebhookRemove(endpoints.WebhookRemove, OfWorkspace):
    template_name = FORM


class DeliveryPage(deliveries.DeliveryPage, OfWorkspace):
    pass


class WebhookTest(deliveries.WebhookTest, OfWorkspace):
    form_page = "app:webhook"


class DeliveryRedeliver(deliveries.DeliveryRedeliver, OfWorkspace):
    form_page = "app:webhook-delivery"


class RedeliverFailed(deliveries.RedeliverFailed, OfWorkspace):
    pass


class Redelivery(deliveries.Redelivery, OfWorkspace):
    pass
