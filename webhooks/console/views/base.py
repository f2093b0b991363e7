"""Looking up endpoints and deliveries of the agency for the console's pages."""

from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy

from agency.console.views.base import ConsoleView
from agency.event_types import event_catalogue
from agency.pages.lists import LARGEST_ID, Pages, with_id
from agency.tenants import Tenant
from config.api.responses.pagination import read_number
from webhooks.console.forms import LogForm
from webhooks.models import Delivery, Endpoint
from webhooks.services import DeliveryNotFound, EndpointNotFound, LogFilters, read_log
from webhooks.services.log import MOST_COUNTED

WEBHOOKS = gettext_lazy("Webhooks")
LIST = "console:webhooks"
PAGE_SIZE = 30


class WebhookView(ConsoleView):
    """A page about webhooks."""

    nav = LIST

    @cached_property
    def catalogue(self) -> dict[str, str]:
        """The events that the agency may subscribe to, with their labels."""
        return event_catalogue(self.agency)

    def endpoints(self) -> "QuerySet[Endpoint]":
        return Endpoint.objects.of(self.agency).order_by("created_at", "id")

    def endpoint_of(self, uuid: UUID | None) -> Endpoint:
        found = with_id(Endpoint.objects.of(self.agency), uuid)
        if found is None:
            raise EndpointNotFound
        return found

    def delivery_of(self, uuid: UUID | None) -> Delivery:
        deliveries = Delivery.objects.of(self.agency).select_related("endpoint", "event", "queued")
        found = deliveries.with_uuid(uuid) if uuid else None
        if found is None:
            raise DeliveryNotFound
        return found

    def deliveries(self, endpoint: Endpoint | None = None) -> dict[str, Any]:
        """A page of the log, filtered by what the address says, with what the filters show."""
        form = LogForm(self.request.GET, auto_id="log_%s", catalogue=self.catalogue)
        filters = LogFilters(tenant=Tenant(self.agency.pk), endpoint=endpoint, **form.filters)
        asked = read_number(self.request.GET.get("page", ""), usual=1, highest=LARGEST_ID)
        found = read_log(filters, offset=(asked - 1) * PAGE_SIZE, size=PAGE_SIZE)
        pages = Pages(asked, found.total, PAGE_SIZE)
        if pages.number != asked:  # past the end
            found = read_log(filters, offset=pages.offset, size=PAGE_SIZE)
        return {
            "deliveries": found.rows,
            "pages": pages,
            "log": form,
            "is_cut": found.total == MOST_COUNTED,
        }
