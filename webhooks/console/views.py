"""The pages about an agency's webhooks, in the console."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext_lazy

from agency.console.base import ConsoleView
from agency.event_types import event_catalogue
from agency.services.bulk import actions_on
from agency.tenants import Tenant
from webhooks.models import Endpoint
from webhooks.pages import deliveries, endpoints
from webhooks.pages.base import WebhookView
from webhooks.pages.log import ENDPOINT

FORM = "pages/console/form.html"


class OfAgency(WebhookView, ConsoleView):
    """The agency's own endpoints, none of its workspaces'."""

    area = "console"
    nav = "console:webhooks"
    lead = gettext_lazy("Signed messages to your own systems whenever something happens to a sub-account.")

    @property
    def tenant(self) -> Tenant:
        return Tenant(self.agency.pk)

    @cached_property
    def catalogue(self) -> Mapping[str, str]:
        return event_catalogue(self.agency)

    def page(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        if "table" in context and self.may_write:
            context |= {"bulk_actions": actions_on("deliveries"), "log_query": self._log_query(context.get("endpoint"))}
        return super().page(template, status=status, **context)

    def _log_query(self, endpoint: Endpoint | None) -> str:
        """Give the log's filters with the endpoint whose page this is, as what is chosen there is found again."""
        sent = self.request.GET.copy()
        if endpoint:
            sent[ENDPOINT] = str(endpoint.uuid)
        return sent.urlencode()


class Webhooks(endpoints.Webhooks, OfAgency):
    pass


class WebhookPage(endpoints.WebhookPage, OfAgency):
    pass


class WebhookNew(endpoints.WebhookNew, OfAgency):
    template_name = FORM
    writers_only = True


class WebhookEdit(endpoints.WebhookEdit, OfAgency):
    template_name = FORM
    writers_only = True


class WebhookRotate(endpoints.WebhookRotate, OfAgency):
    template_name = FORM
    writers_only = True


class WebhookRemove(endpoints.WebhookRemove, OfAgency):
    template_name = FORM
    writers_only = True


class WebhookDismiss(endpoints.WebhookDismiss, OfAgency):
    template_name = FORM
    writers_only = True


class DeliveryPage(deliveries.DeliveryPage, OfAgency):
    pass


class WebhookTest(deliveries.WebhookTest, OfAgency):
    form_page = "console:webhook"


class DeliveryRedeliver(deliveries.DeliveryRedeliver, OfAgency):
    form_page = "console:webhook-delivery"


class RedeliverFailed(deliveries.RedeliverFailed, OfAgency):
    writers_only = True


class Redelivery(deliveries.Redelivery, OfAgency):
    pass
