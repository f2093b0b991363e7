"""Sub-accounts that staff chose on the list: by ticking them, or by the list's filters."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.urls import reverse

from agency.models import Agency
from agency.services.bulk import IdBatch, Selection, TargetLabel
from config.api.requests import NothingMatches, QueryParameters
from config.errors import InvalidInput
from workspaces.subaccounts.filters import SubAccountFilterSet
from workspaces.subaccounts.models import Workspace


def filtered(query: str, rows: "QuerySet[Any]") -> "QuerySet[Any]":
    """Apply the filters of the list's query string. A value that no sub-account can have matches no row."""
    try:
        return SubAccountFilterSet.apply(QueryParameters(query), rows)
    except (NothingMatches, InvalidInput):
        return rows.none()


def chosen_rows(selection: Selection) -> "QuerySet[Workspace]":
    """Give the chosen sub-accounts of the agency, without those created after the choice."""
    own = Workspace.objects.of(selection.agency).filter(created_at__lte=selection.until)
    found: QuerySet[Workspace] = (
        filtered(selection.query, own) if selection.picked is None else own.filter(uuid__in=selection.picked)
    )
    return found


def next_rows(selection: Selection, cursor: Any, size: int) -> "QuerySet[Workspace]":
    """Give the next chosen rows, newest first. The list's own index serves this order."""
    rows = chosen_rows(selection)
    if cursor:
        at, pk = datetime.fromisoformat(cursor[0]), cursor[1]
        rows = rows.filter(Q(created_at__lt=at) | Q(pk__lt=pk), created_at__lte=at)
    return rows.order_by("-created_at", "-id")[:size]


def cursor_after(found: list[tuple[datetime, int]], size: int) -> Any:
    """Give the cursor of the next batch; None if this batch was not full."""
    return None if len(found) < size else [found[-1][0].isoformat(), found[-1][1]]


def count(selection: Selection) -> int:
    return chosen_rows(selection).count()


def walk(selection: Selection, cursor: Any, size: int) -> IdBatch:
    """Give the next batch of ids. Sub-accounts picked by hand come in one batch, in the order of their list."""
    if selection.picked is not None:
        places = {uuid: place for place, uuid in enumerate(selection.picked)}
        picked = sorted(chosen_rows(selection).values_list("uuid", "pk"), key=lambda row: places[row[0]])
        return IdBatch([pk for _, pk in picked], None)
    found = list(next_rows(selection, cursor, size).values_list("created_at", "pk"))
    return IdBatch([pk for _, pk in found], cursor_after(found, size))


def shown(agency: Agency, ids: Collection[int]) -> Mapping[int, TargetLabel]:
    rows = Workspace.objects.of(agency).filter(pk__in=ids).values_list("pk", "name", "uuid")
    return {pk: TargetLabel(name, reverse("console:sub-account", args=[uuid])) for pk, name, uuid in rows}
