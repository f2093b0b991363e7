"""Webhooks on other pages: charts, search, a sub-account's panel, and support's panels."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from django.db.models import Case, Exists, F, OuterRef, Q, Sum, Value, When
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.models import Agency, Event
from agency.pages.charts import BucketStart, Period, Series
from agency.pages.registry import Alert
from agency.pages.search import SearchResult, SupportPanel, SupportRow, SupportSearchSource, SupportStartPanel
from agency.tenants import Tenant
from config.api.requests import parse_uuid
from webhooks.models import Delivery, Endpoint, HourlyStats
from webhooks.pages.deliveries import concern_text, state_label, status_text
from webhooks.services.endpoint_health import needing_attention
from webhooks.services.endpoints import MOST_ENDPOINTS
from webhooks.services.log import LogFilters, read_log
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.pages.registry import (
    HubContent,
    HubPanel,
    HubRow,
    WorkspaceConcernSource,
    opened_as_customer,
)
from workspaces.subaccounts.services import tenant_of
from workspaces.subaccounts.services.health import HealthCheck


def ended_deliveries(agency: Agency, period: Period) -> Sequence[Series]:
    own = Endpoint.objects.filter(agency=agency, workspace_id=None).values("pk")
    rows = HourlyStats.objects.filter(endpoint_id__in=own, hour__gte=period.start).order_by()
    summed = rows.annotate(step=BucketStart("hour", period)).values_list("step")
    ended = list(summed.annotate(good=Sum("successes"), bad=Sum("errors")))
    return [
        Series(label=gettext_lazy("delivered"), counts={step: good for step, good, _bad in ended}, look="good"),
        Series(label=gettext_lazy("failed"), counts={step: bad for step, _good, bad in ended}, look="bad"),
    ]


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


MOST_NAMED: Final = 3


def failure_of(delivery: Delivery) -> str:
    """Return the endpoint's answer if it was no success, or the code of another failure."""
    if delivery.error and delivery.response_status:
        return status_text(delivery.response_status)
    return delivery.error or ""


def _rows(workspace: Workspace, most: int) -> Iterator[HubRow]:
    """Yield the failed deliveries to the sub-account's own endpoints."""
    filters = LogFilters(tenant=tenant_of(workspace), status=Delivery.Status.ERROR)
    for delivery in read_log(filters, offset=0, size=most).rows:
        failure = failure_of(delivery)
        label = _("Open delivery as customer")
        yield HubRow(
            title=delivery.event_name,
            detail=" · ".join(filter(None, [failure, delivery.endpoint.url])),
            at=delivery.completed_at,
            status_label=delivery.get_status_display(),
            tone="bad",
            actions=opened_as_customer(workspace, "app:webhook-delivery", delivery.uuid, label=label),
        )


def failures(workspace: Workspace, most: int) -> HubContent:
    return HubContent(
        rows=_rows(workspace, most),
        empty=_("None."),
        actions=opened_as_customer(workspace, "app:webhooks", label=_("Open Webhooks as customer")),
    )


def endpoint_concerns(workspace: Workspace) -> Iterator[Alert]:
    open_ones = Endpoint.objects.filter(workspace_id=workspace.pk, enabled=True, removed_at=None).order_by("id")
    for endpoint, condition in needing_attention(open_ones.defer("secret")[:MOST_ENDPOINTS], MOST_NAMED):
        yield Alert(text=concern_text(condition, endpoint.url), url="#webhooks", action=_("Failures"))


HUB_PANELS: Final = (
    HubPanel(name="webhooks", label=gettext_lazy("Failed webhook deliveries"), order=40, content=failures),
)


def has_failing_endpoint() -> Q:
    failing = Endpoint.objects.filter(
        workspace_id=OuterRef("pk"), enabled=True, removed_at=None, failing_since__isnull=False
    )
    return Q(Exists(failing))


HEALTH: Final = (
    HealthCheck(
        name="webhook", label=gettext_lazy("Failing webhook"), order=50, condition=has_failing_endpoint, is_bad=True
    ),
)
CONCERNS: Final = (WorkspaceConcernSource(name="webhooks", order=30, concerns=endpoint_concerns),)


# At most so many of an agency's endpoints are checked, because its sub-accounts may have thousands.
MOST_LOOKED_AT: Final = 200
VIEW_DELIVERY: Final = "webhooks.view_delivery"


def failing_endpoints(agency: Agency, most: int) -> Iterator[SupportRow]:
    """Yield the endpoints of an agency and its sub-accounts that need attention, failing and last used ones first."""
    enabled = Endpoint.objects.filter(agency=agency, enabled=True, removed_at=None).defer("secret")
    failing_first = Case(When(last_outcome=Endpoint.Outcome.ERROR, then=Value(0)), default=Value(1))
    looked_at = enabled.order_by(failing_first, F("last_delivery_at").desc(nulls_last=True), "id")[:MOST_LOOKED_AT]
    found = list(needing_attention(looked_at, most))
    owners = owners_of([endpoint for endpoint, _ in found])
    for endpoint, condition in found:
        whose = owners.get(endpoint.workspace_id or 0, OWN)
        last = f"last delivery {endpoint.last_delivery_at:%Y-%m-%d %H:%M UTC}" if endpoint.last_delivery_at else ""
        yield SupportRow(
            title=endpoint.url,
            detail=" · ".join(filter(None, [state_label(condition), whose, last])),
            url=reverse("admin:webhooks_endpoint_change", args=[endpoint.pk]),
            is_problem=True,
        )


OWN: Final = "the agency's own"


def owners_of(endpoints: Sequence[Endpoint]) -> dict[int, str]:
    """Return the names of the sub-accounts that own some of these endpoints, by their primary keys."""
    found = {one.workspace_id for one in endpoints if one.workspace_id}
    names = Workspace.objects.filter(pk__in=found).values_list("pk", "name") if found else ()
    return {pk: f"of {name}" for pk, name in names}


def all_failing_endpoints(most: int) -> Iterator[SupportRow]:
    """Yield endpoints of all agencies that fail. A partial index holds exactly these."""
    rows = Endpoint.objects.filter(enabled=True, removed_at=None, failing_since__isnull=False)
    found = list(rows.select_related("agency").defer("secret").order_by("-id")[:most])
    owners = owners_of(found)
    for endpoint in found:
        whose = f"{endpoint.agency} · {owners.get(endpoint.workspace_id or 0, OWN)}"
        yield SupportRow(
            title=endpoint.url,
            detail=f"{whose} · since {endpoint.failing_since:%Y-%m-%d %H:%M UTC}",
            url=reverse("admin:webhooks_endpoint_change", args=[endpoint.pk]),
            is_problem=True,
        )


# A shorter part of an address is in too many of them.
SHORTEST_PART: Final = 5


def endpoints_for_support(query: str, most: int) -> Iterator[SupportRow]:
    """Yield the endpoints whose URL contains this; a trigram index answers."""
    rows = Endpoint.objects.filter(url__contains=query).select_related("agency").defer("secret").order_by("-id")
    found = list(rows[:most]) if len(query) >= SHORTEST_PART else []
    owners = owners_of(found)
    for endpoint in found:
        state = "removed" if endpoint.removed_at else "on" if endpoint.enabled else "off"
        yield SupportRow(
            title=endpoint.url,
            detail=f"{endpoint.agency} · {owners.get(endpoint.workspace_id or 0, OWN)} · {state}",
            url=reverse("admin:webhooks_endpoint_change", args=[endpoint.pk]),
        )


def failed_deliveries(agency: Agency, most: int) -> Iterator[SupportRow]:
    """Yield the agency's own failed deliveries, newest first, from the same log as its console."""
    filters = LogFilters(tenant=Tenant(agency.pk), status=Delivery.Status.ERROR)
    for delivery in read_log(filters, offset=0, size=most).rows:
        yield row_of(delivery, f"{delivery.created_at:%Y-%m-%d %H:%M UTC} · {outcome_of(delivery)}")


def outcome_of(delivery: Delivery) -> str:
    """Describe a delivery's outcome as the log does."""
    return " · ".join(filter(None, [str(delivery.get_status_display()), failure_of(delivery), delivery.endpoint.url]))


def row_of(delivery: Delivery, detail: str) -> SupportRow:
    return SupportRow(
        title=delivery.event_name,
        detail=detail,
        url=reverse("admin:webhooks_delivery_change", args=[delivery.pk]),
        is_problem=delivery.status == Delivery.Status.ERROR,
    )


def deliveries_for_support(query: str, most: int) -> Iterator[SupportRow]:
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


SUPPORT_PANELS: Final = (
    SupportPanel(
        name="failing-endpoints",
        label="Failing webhooks",
        order=12,
        permission="webhooks.view_endpoint",
        rows=failing_endpoints,
        url_name="admin:webhooks_endpoint_changelist",
    ),
    SupportPanel(
        name="failed-deliveries",
        label="Failed deliveries",
        order=14,
        permission=VIEW_DELIVERY,
        rows=failed_deliveries,
        url_name="admin:webhooks_delivery_changelist",
    ),
)
SUPPORT_START_PANELS: Final = (
    SupportStartPanel(
        name="failing-endpoints",
        label="Failing webhooks",
        order=40,
        permission="webhooks.view_endpoint",
        rows=all_failing_endpoints,
        url_name="admin:webhooks_endpoint_changelist",
    ),
)
SUPPORT_FIND_SOURCES: Final = (
    SupportSearchSource(
        name="endpoints", label="Webhooks", order=55, permission="webhooks.view_endpoint", find=endpoints_for_support
    ),
    SupportSearchSource(
        name="deliveries", label="Deliveries", order=60, permission=VIEW_DELIVERY, find=deliveries_for_support
    ),
)
