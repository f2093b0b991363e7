"""Sub-accounts that were chosen on their list: by hand, or by its filters."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.urls import reverse

from agency.models import Agency
from agency.services.bulk.actions import Shown
from agency.services.jobs.selections import Selection, Walk
from config.api.requests.parameters import NothingMatches, Parameters
from config.errors import Invalid
from workspaces.subaccounts.filters import SubAccountFilterSet
from workspaces.subaccounts.models import Workspace


def filtered(query: str, rows: "QuerySet[Any]") -> "QuerySet[Any]":
    """Keep what the list's address asks for; a value that no sub-account can have keeps nothing."""
    try:
        return SubAccountFilterSet.apply(Parameters(query), rows)
    except (NothingMatches, Invalid):
        return rows.none()


def chosen_rows(selection: Selection) -> "QuerySet[Workspace]":
    """Keep what was chosen among the agency's own."""
    own = Workspace.objects.of(selection.agency).filter(created_at__lte=selection.until)
    found: QuerySet[Workspace] = (
        filtered(selection.query, own) if selection.picked is None else own.filter(uuid__in=selection.picked)
    )
    return found


def next_rows(selection: Selection, cursor: Any, size: int) -> "QuerySet[Workspace]":
    """Give the next of them in the list's order, the newest first, by the list's own indexes."""
    rows = chosen_rows(selection)
    if cursor:
        at, pk = datetime.fromisoformat(cursor[0]), cursor[1]
        rows = rows.filter(Q(created_at__lt=at) | Q(pk__lt=pk), created_at__lte=at)
    return rows.order_by("-created_at", "-id")[:size]


def cursor_after(found: list[tuple[datetime, int]], size: int) -> Any:
    """Give where the rest begins; None where fewer than were asked for have come."""
    return None if len(found) < size else [found[-1][0].isoformat(), found[-1][1]]


def count(selection: Selection) -> int:
    return chosen_rows(selection).count()


def walk(selection: Selection, cursor: Any, size: int) -> Walk:
    """Give the next of them: those that were picked in the order in which their list showed them, all at once."""
    if selection.picked is not None:
        places = {uuid: place for place, uuid in enumerate(selection.picked)}
        picked = sorted(chosen_rows(selection).values_list("uuid", "pk"), key=lambda row: places[row[0]])
        return Walk([pk for _, pk in picked], None)
    found = list(next_rows(selection, cursor, size).values_list("created_at", "pk"))
    return Walk([pk for _, pk in found], cursor_after(found, size))


def shown(agency: Agency, ids: Collection[int]) -> Mapping[int, Shown]:
    rows = Workspace.objects.of(agency).filter(pk__in=ids).values_list("pk", "name", "uuid")
    return {pk: Shown(name, reverse("console:sub-account", args=[uuid])) for pk, name, uuid in rows}
