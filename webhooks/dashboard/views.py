"""The pages about a workspace's webhooks, in the dashboard."""

from collections.abc import Mapping

from django.utils.translation import gettext_lazy

from agency.event_types import event_labels
from agency.tenants import Audience, Tenant
from webhooks.pages import deliveries, endpoints
from webhooks.pages.base import WebhookView
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
        return event_labels(Audience.WORKSPACE)


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
