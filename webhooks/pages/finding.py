"""The console's search for endpoints by URL or id, and for deliveries by their or the envelope's id."""

from collections.abc import Iterator
from itertools import chain

from django.urls import reverse

from agency.models import Agency
from agency.pages.search import SearchResult
from agency.tenants import Tenant
from config.api.requests import parse_uuid
from webhooks.models import Delivery, Endpoint
from webhooks.services import LogFilters, read_log


def found_endpoints(agency: Agency, query: str, most: int) -> Iterator[SearchResult]:
    """Yield the matching endpoints. An agency has few endpoints, so all of them are scanned."""
    own, uuid = Endpoint.objects.of(agency), parse_uuid(query)
    rows = own.filter(uuid=uuid) if uuid else own.filter(url__icontains=query)
    for endpoint in rows.order_by("id").only("uuid", "url", "description")[:most]:
        address = reverse("console:webhook", args=[endpoint.uuid])
        yield SearchResult(title=endpoint.url, detail=endpoint.description, url=address)


def found_deliveries(agency: Agency, query: str, most: int) -> Iterator[SearchResult]:
    """Yield the deliveries with this complete id of a delivery or envelope. Logs and receivers show these ids."""
    uuid = parse_uuid(query)
    if uuid is None:
        return
    own = Delivery.objects.of(agency).select_related("endpoint").with_uuid(uuid)
    log = read_log(LogFilters(tenant=Tenant(agency.pk), envelope_id=uuid), offset=0, size=most)
    for delivery in chain([own] if own else [], log.rows):
        yield SearchResult(
            title=delivery.event_name,
            detail=f"{delivery.get_status_display()} · {delivery.endpoint.url}",
            url=reverse("console:webhook-delivery", args=[delivery.uuid]),
        )
