"""The base view of all pages about webhooks, for both areas."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy

from agency.actors import Actor
from agency.pages.pagination import with_id
from agency.pages.registry import StrOrPromise
from agency.pages.views import SignedInView
from agency.tenants import Tenant
from webhooks.models import Delivery, Endpoint
from webhooks.services import DeliveryNotFound, EndpointNotFound

WEBHOOKS = gettext_lazy("Webhooks")


class WebhookView(SignedInView):
    """A page about webhooks. `area` is the namespace of its URLs: `console` or `app`."""

    area: ClassVar[str]
    lead: ClassVar[StrOrPromise]
    hides: ClassVar[tuple[str, ...]] = ()  # the log's filters that make no sense in this area

    @property
    def tenant(self) -> Tenant:
        """The owner of the endpoints and deliveries. Each area has its own."""
        raise NotImplementedError

    @property
    def catalogue(self) -> Mapping[str, str]:
        """The events that the tenant may subscribe to, with their labels. Each area has its own."""
        raise NotImplementedError

    if TYPE_CHECKING:

        @property
        def by(self) -> Actor:
            """The acting person, from the area's base view."""

    @classmethod
    def named(cls, name: str) -> str:
        """Return the name of a URL in the same area, such as `console:webhook-new`."""
        return f"{cls.area}:{name}"

    def crumb(self, label: StrOrPromise, name: str, *args: object) -> tuple[StrOrPromise, str]:
        """Return a breadcrumb's label and URL."""
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
