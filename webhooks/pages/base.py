"""What every page about webhooks has: whose endpoints and deliveries they are, and in which area it stands."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy

from agency.actors import Actor
from agency.pages.lists import with_id
from agency.pages.registry import StrOrPromise
from agency.pages.signed_in import SignedInView
from agency.tenants import Tenant
from webhooks.models import Delivery, Endpoint
from webhooks.services import DeliveryNotFound, EndpointNotFound

WEBHOOKS = gettext_lazy("Webhooks")


class WebhookView(SignedInView):
    """A page about webhooks. `area` is the namespace of its addresses: `console` or `app`."""

    area: ClassVar[str]
    lead: ClassVar[StrOrPromise]
    hides: ClassVar[tuple[str, ...]] = ()  # filters of the log that mean nothing here

    @property
    def tenant(self) -> Tenant:
        """Whose endpoints and deliveries these are. Each area has its own."""
        raise NotImplementedError

    @property
    def catalogue(self) -> Mapping[str, str]:
        """The events that the tenant may subscribe to, with their labels. Each area has its own."""
        raise NotImplementedError

    if TYPE_CHECKING:

        @property
        def by(self) -> Actor:
            """Who acts, as the area's own base knows it."""

    @classmethod
    def named(cls, name: str) -> str:
        """Name an address of the same area: `console:webhook-new`."""
        return f"{cls.area}:{name}"

    def crumb(self, label: StrOrPromise, name: str, *args: object) -> tuple[StrOrPromise, str]:
        """Give one step of the way back to where a page was reached from."""
        return label, reverse(self.named(name), args=args)

    def page(self, template: str, *, status: int = 200, **context: Any) -> HttpResponse:
        return super().page(template, status=status, lead=self.lead, **context)

    def endpoints(self) -> "QuerySet[Endpoint]":
        return Endpoint.objects.of_tenant(self.tenant).order_by("created_at", "id")

    def endpoint_of(self, uuid: UUID | None) -> Endpoint:
        found = with_id(Endpoint.objects.of_tenant(self.tenant), uuid)
        if found is None:
            raise EndpointNotFound
        return found

    def delivery_of(self, uuid: UUID | None) -> Delivery:
        deliveries = Delivery.objects.of_tenant(self.tenant).select_related("endpoint", "event", "queued")
        found = deliveries.with_uuid(uuid) if uuid else None
        if found is None:
            raise DeliveryNotFound
        return found
