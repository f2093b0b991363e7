"""Finds the deliveries that the user selected in the log, one by one or by its filters."""

from collections.abc import Collection, Mapping
from typing import Any

from django.http import QueryDict
from django.urls import reverse

from agency.event_types import event_catalogue
from agency.models import Agency
from agency.services.bulk import IdBatch, Selection, TargetLabel
from agency.tenants import Tenant
from webhooks.models import Delivery, Endpoint
from webhooks.pages.log import LogForm
from webhooks.services import LogFilters
from webhooks.services.log import MOST_COUNTED, log_ids


def filters_of(selection: Selection) -> LogFilters | None:
    """Parse the log's filters. Return None if one is invalid or names an object outside the agency."""
    sent = QueryDict(selection.query)
    tenant, catalogue = Tenant(selection.agency.pk), event_catalogue(selection.agency)
    form = LogForm(sent, catalogue=catalogue, endpoints=Endpoint.objects.of_tenant(tenant), hides=())
    if not form.is_valid():
        return None
    found = form.filters
    before = min(found.get("created_before", selection.until), selection.until)
    return LogFilters(tenant=tenant, **{**found, "created_before": before})


def chosen_ids(selection: Selection) -> list[int]:
    """Return the selected deliveries' primary keys, newest first, at most `MOST_COUNTED` by filters."""
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


def walk(selection: Selection, cursor: Any, size: int) -> IdBatch:
    """Return all at once, because the log changes meanwhile: a delivery that is pending now ends a moment later."""
    return IdBatch(chosen_ids(selection), None)


def shown(agency: Agency, ids: Collection[int]) -> Mapping[int, TargetLabel]:
    rows = Delivery.objects.of(agency).filter(pk__in=ids).values_list("pk", "event_name", "endpoint__url", "uuid")
    return {
        pk: TargetLabel(f"{event} → {url}", reverse("console:webhook-delivery", args=[uuid]))
        for pk, event, url, uuid in rows
    }
