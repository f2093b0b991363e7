"""Looking up endpoints and deliveries of the agency for the console's pages."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy

from agency.console.views.base import ConsoleView
from agency.pages.lists import with_id
from agency.tenants import Tenant
from webhooks.models import Delivery, Endpoint
from webhooks.services import DeliveryNotFound, EndpointNotFound

WEBHOOKS = gettext_lazy("Webhooks")
LIST = "console:webhooks"
SHOWN = 30


class WebhookView(ConsoleView):
    """A page about webhooks."""

    nav = LIST

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
        """The last thirty, filtered by what the address says, with what the filters show."""
        status, event = self.request.GET.get("status", ""), self.request.GET.get("event", "")
        newest = Delivery.objects.newest(
            SHOWN,
            tenant=Tenant(self.agency.pk),
            endpoint=endpoint,
            status=status if status in Delivery.Status.values else "",
            event="" if "\0" in event else event,
        )
        return {
            "deliveries": newest,
            "filters": {"status": status, "event": event, "any": bool(status or event)},
            "statuses": Delivery.Status.choices,
        }
