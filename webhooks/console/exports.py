"""The console's export of the delivery log."""

from typing import Any, Final

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from agency.services.bulk import Selection
from agency.services.exports import ExportSource, RowBatch
from webhooks.console.chosen import filters_of
from webhooks.models import Delivery
from webhooks.services import LogFilters

COLUMNS: Final = (
    "uuid",
    "event",
    "envelope_id",
    "webhook",
    "sub_account_uuid",
    "kind",
    "status",
    "attempts",
    "response_status",
    "error",
    "created_at",
    "completed_at",
)
# The columns whose names differ from their fields.
FIELDS: Final = {"event": "event_name", "webhook": "endpoint__url", "sub_account_uuid": "workspace_uuid"}
CONDITIONS: Final = {
    "endpoint": "endpoint",
    "status": "status",
    "event": "event_name",
    "envelope_id": "envelope_id",
    "workspace": "workspace_uuid",
    "created_after": "created_at__gte",
    "created_before": "created_at__lt",
}


def _read(selection: Selection, cursor: Any, size: int) -> RowBatch:
    """Read the next `size` deliveries and return the matching ones, so that each part costs the same."""
    filters = filters_of(selection)
    ids = _next_ids(selection, cursor, size)
    if filters is None or not ids:
        return RowBatch([], None)
    matching = _matching(filters, Delivery.objects.filter(pk__in=ids))
    fields = [FIELDS.get(column, column) for column in COLUMNS]
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in matching.order_by("-pk").values_list(*fields)]
    return RowBatch(rows, ids[-1] if len(ids) == size else None)


def _next_ids(selection: Selection, cursor: int | None, size: int) -> list[int]:
    """Return the next ids of the agency's own deliveries from their index (see `services.log` on range and order)."""
    agency = selection.agency.pk
    own = Delivery.objects.filter(agency__gte=agency, agency__lte=agency, workspace_id=None)
    own = own.filter(pk__lt=cursor) if cursor else own
    return list(own.order_by("agency_id", "-pk").values_list("pk", flat=True)[:size])


def _matching(filters: LogFilters, rows: "QuerySet[Delivery]") -> "QuerySet[Delivery]":
    asked = {CONDITIONS[name]: value for name in CONDITIONS if (value := getattr(filters, name)) is not None}
    return rows.filter(**asked)


DELIVERIES: Final = ExportSource(
    name="deliveries", label=_("Deliveries"), url_name="console:webhooks", columns=COLUMNS, read=_read
)
