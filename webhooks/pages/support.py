"""The support page's panels of an agency's webhooks, and its search for all agencies' deliveries."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from django.db.models import Case, F, Q, Value, When
from django.urls import reverse

from agency.models import Agency, Event
from agency.pages.search import SupportPanel, SupportRow, SupportSearchSource
from agency.tenants import Tenant
from config.api.requests import parse_uuid
from webhooks.models import Delivery, Endpoint
from webhooks.pages.labels import state_label
from webhooks.services import LogFilters, needing_attention, read_log

# At most so many of an agency's endpoints are checked, because its sub-accounts may have thousands.
MOST_LOOKED_AT: Final = 200
VIEW_DELIVERY: Final = "webhooks.view_delivery"


def failing_endpoints(agency: Agency, most: int) -> Iterator[SupportRow]:
    """Yield the endpoints of an agency and its sub-accounts that need attention, failing and last used ones first."""
    enabled = Endpoint.objects.filter(agency=agency, enabled=True, removed_at=None).defer("secret")
    failing_first = Case(When(last_outcome=Endpoint.Outcome.ERROR, then=Value(0)), default=Value(1))
    looked_at = enabled.order_by(failing_first, F("last_delivery_at").desc(nulls_last=True), "id")[:MOST_LOOKED_AT]
    for endpoint, condition in needing_attention(looked_at, most):
        whose = f"of sub-account {endpoint.workspace_uuid}" if endpoint.workspace_uuid else "the agency's own"
        last = f"last delivery {endpoint.last_delivery_at:%Y-%m-%d %H:%M UTC}" if endpoint.last_delivery_at else ""
        yield SupportRow(
            title=endpoint.url,
            detail=" · ".join(filter(None, [state_label(condition), whose, last])),
            url=reverse("admin:webhooks_endpoint_change", args=[endpoint.pk]),
            is_problem=True,
        )


def failed_deliveries(agency: Agency, most: int) -> Iterator[SupportRow]:
    """Yield the agency's own failed deliveries, newest first, from the same log as its console."""
    filters = LogFilters(tenant=Tenant(agency.pk), status=Delivery.Status.ERROR)
    for delivery in read_log(filters, offset=0, size=most).rows:
        yield row_of(delivery, f"{delivery.created_at:%Y-%m-%d %H:%M UTC} · {outcome_of(delivery)}")


def outcome_of(delivery: Delivery) -> str:
    """Describe a delivery's outcome as the log does."""
    failure = delivery.error or (f"HTTP {delivery.response_status}" if delivery.response_status else "")
    return " · ".join(filter(None, [str(delivery.get_status_display()), failure, delivery.endpoint.url]))


def row_of(delivery: Delivery, detail: str) -> SupportRow:
    return SupportRow(
        title=delivery.event_name,
        detail=detail,
        url=reverse("admin:webhooks_delivery_change", args=[delivery.pk]),
        is_problem=delivery.status == Delivery.Status.ERROR,
    )


def found_deliveries(query: str, most: int) -> Iterator[SupportRow]:
    """Yield the deliveries with this complete id of a delivery or envelope. Logs and receivers show these ids."""
    uuid = parse_uuid(query)
    if uuid is None:
        return
    rows = Delivery.objects.select_related("agency", "endpoint").defer("body")
    event = Event.objects.filter(uuid=uuid).only("id").first()
    of_event = rows.filter(event=event, kind=Delivery.Kind.AUTOMATIC)[:most] if event else ()
    again = rows.filter(~Q(kind=Delivery.Kind.AUTOMATIC), envelope_id=uuid)[:most]
    own = rows.with_uuid(uuid)
    for delivery in chain([own] if own else [], of_event, again):
        yield row_of(delivery, f"{delivery.agency} · {outcome_of(delivery)}")


PANELS: Final = (
    SupportPanel(
        name="failing-endpoints",
        label="Webhooks that fail",
        order=12,
        permission="webhooks.view_endpoint",
        rows=failing_endpoints,
        url_name="admin:webhooks_endpoint_changelist",
    ),
    SupportPanel(
        name="failed-deliveries",
        label="Deliveries that failed",
        order=14,
        permission=VIEW_DELIVERY,
        rows=failed_deliveries,
        url_name="admin:webhooks_delivery_changelist",
    ),
)
SOURCES: Final = (
    SupportSearchSource(
        name="deliveries", label="Deliveries", order=60, permission=VIEW_DELIVERY, find=found_deliveries
    ),
)
