"""What the console's search shows of webhooks: endpoints by address or id, deliveries by their id or the envelope's."""

from collections.abc import Iterator
from itertools import chain

from django.urls import reverse

from agency.models import Agency
from agency.pages.finding import Found
from agency.tenants import Tenant
from config.api.requests.ids import parse_uuid
from webhooks.models import Delivery, Endpoint
from webhooks.services import LogFilters, read_log


def found_endpoints(agency: Agency, query: str, most: int) -> Iterator[Found]:
    """An agency has few endpoints: they are looked through, by the index of their tenant."""
    own, uuid = Endpoint.objects.of(agency), parse_uuid(query)
    rows = own.filter(uuid=uuid) if uuid else own.filter(url__icontains=query)
    for endpoint in rows.order_by("id").only("uuid", "url", "description")[:most]:
        address = reverse("console:webhook", args=[endpoint.uuid])
        yield Found(title=endpoint.url, detail=endpoint.description, url=address)


def found_deliveries(agency: Agency, query: str, most: int) -> Iterator[Found]:
    """A delivery is found by its whole id alone, or the envelope's, as logs and receivers have it."""
    uuid = parse_uuid(query)
    if uuid is None:
        return
    own = Delivery.objects.of(agency).select_related("endpoint").with_uuid(uuid)
    log = read_log(LogFilters(tenant=Tenant(agency.pk), envelope_id=uuid), offset=0, size=most)
    for delivery in chain([own] if own else [], log.rows):
        yield Found(
            title=delivery.event_name,
            detail=f"{delivery.get_status_display()} · {delivery.endpoint.url}",
            url=reverse("console:webhook-delivery", args=[delivery.uuid]),
        )
