"""Deliveries that were chosen in the log: by hand, or by its filters."""

from collections.abc import Collection, Mapping
from typing import Any

from django.http import QueryDict
from django.urls import reverse

from agency.event_types import event_catalogue
from agency.models import Agency
from agency.services.bulk.actions import Shown
from agency.services.jobs.selections import Selection, Walk
from agency.tenants import Tenant
from webhooks.models import Delivery, Endpoint
from webhooks.pages.log import LogForm
from webhooks.services import LogFilters
from webhooks.services.log import MOST_COUNTED, log_ids


def filters_of(selection: Selection) -> LogFilters | None:
    """Read the log's filters; None where one of them cannot be read, or names nothing of the agency's."""
    sent = QueryDict(selection.query)
    tenant, catalogue = Tenant(selection.agency.pk), event_catalogue(selection.agency)
    form = LogForm(sent, catalogue=catalogue, endpoints=Endpoint.objects.of_tenant(tenant), hides=())
    if not form.is_valid():
        return None
    found = form.filters
    before = min(found.get("created_before", selection.until), selection.until)
    return LogFilters(tenant=tenant, **{**found, "created_before": before})


def chosen_ids(selection: Selection) -> list[int]:
    """Give what was chosen, the newest first: at most what the log counts."""
    if selection.picked is not None:
        own = Delivery.objects.of(selection.agency)
        found = (own.with_uuid(uuid) for uuid in selection.picked)
        return [delivery.pk for delivery in found if delivery]
    filters = filters_of(selection)
    return log_ids(filters, offset=0, size=MOST_COUNTED)[0] if filters else []


def count(selection: Selection) -> int:
    if selection.picked is not None:
        return len(chosen_ids(selection))
    filters = filters_of(selection)
    return log_ids(filters, offset=0, size=0)[1] if filters else 0


def walk(selection: Selection, cursor: Any, size: int) -> Walk:
    """Give all at once, as the log does not hold still: what is pending now has ended a moment later."""
    return Walk(chosen_ids(selection), None)


def shown(agency: Agency, ids: Collection[int]) -> Mapping[int, Shown]:
    rows = Delivery.objects.of(agency).filter(pk__in=ids).values_list("pk", "event_name", "endpoint__url", "uuid")
    return {
        pk: Shown(f"{event} → {url}", reverse("console:webhook-delivery", args=[uuid])) for pk, event, url, uuid in rows
    }
