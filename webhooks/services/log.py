"""Reads pages of the delivery log, newest first, at a cost that does not grow with the log.

Each query uses the index that finds the fewest rows. Other conditions are checked on the first `MOST_LOOKED_AT` rows
of that index, and matches are counted up to `MOST_COUNTED`. `created_before` reaches older rows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.utils import timezone

from agency.tenants import Tenant
from config.retention import first_id_since
from webhooks.models import Delivery, Endpoint
from webhooks.models.partitions import A_DAY, DELIVERIES, first_id

# `created_at` comes from the machine that made the delivery, whose clock may be this far off the database's.
CLOCKS_DIFFER = timedelta(seconds=30)
# Moments outside these limits are treated as the limits: no delivery is kept so long, and none is in the future.
LONGEST_AGO, FURTHEST_AHEAD = timedelta(days=60), timedelta(days=3)


def first_delivery_since(moment: datetime, *, now: datetime, aside: timedelta) -> int:
    """Return the primary key that separates deliveries made since a moment from earlier ones.

    `aside` shifts the moment, because clocks differ.
    """
    moment = min(max(moment, now - LONGEST_AGO), now + FURTHEST_AHEAD).astimezone(UTC) + aside
    day = moment.date()
    return first_id_since(
        moment, table=DELIVERIES.parent, column="created_at", first=first_id(day), end=first_id(day + A_DAY)
    )


MOST_COUNTED = 10_000
MOST_LOOKED_AT = 100_000
PENDING, ERROR = Delivery.Status.PENDING, Delivery.Status.ERROR

FIND = """
WITH found AS MATERIALIZED (
    SELECT id FROM (
        SELECT {columns} FROM webhooks_delivery
        WHERE {leading} AND id >= %(first)s AND id < %(end)s
        ORDER BY {order}id DESC LIMIT {most_looked_at}
    ) AS looked_at
    WHERE {others} LIMIT %(most)s
)
SELECT (SELECT count(*) FROM found), ARRAY (SELECT id FROM found ORDER BY id DESC OFFSET %(offset)s LIMIT %(size)s)
"""
# The queue holds all pending deliveries. More than `MOST_COUNTED` of them are too many to be searched by id.
QUEUED = """
SELECT queued.delivery_id FROM webhooks_endpoint endpoint CROSS JOIN LATERAL (
    SELECT delivery_id FROM webhooks_queueddelivery WHERE endpoint_id = endpoint.id AND is_ready
    UNION ALL
    SELECT delivery_id FROM webhooks_queueddelivery WHERE endpoint_id = endpoint.id AND NOT is_ready
) AS queued
WHERE {endpoints} LIMIT %(most)s
"""
# Automatic deliveries are found by their event, all others by the envelope's id.
OF_ENVELOPE = """
SELECT id FROM webhooks_delivery
WHERE event_id = (SELECT id FROM agency_event WHERE uuid = %(envelope_id)s) AND kind = 'automatic'
UNION ALL
SELECT id FROM webhooks_delivery WHERE envelope_id = %(envelope_id)s AND kind <> 'automatic'
LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogFilters:
    """The filters of a tenant's log. `workspace` is the workspace that an event is about."""

    tenant: Tenant
    endpoint: Endpoint | None = None
    status: str | None = None
    event: str | None = None
    envelope_id: UUID | None = None
    workspace: UUID | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None

    @property
    def values(self) -> dict[str, int | str | UUID | datetime | None]:
        """The values of the statements' parameters."""
        return {
            "agency_id": self.tenant.agency_id,
            "workspace_id": self.tenant.workspace_id,
            "endpoint_id": self.endpoint.pk if self.endpoint else None,
            "status": self.status,
            "event_name": self.event,
            "envelope_id": self.envelope_id,
            "workspace_uuid": self.workspace,
            "created_after": self.created_after,
            "created_before": self.created_before,
        }

    @property
    def owner(self) -> str:
        return "agency_id" if self.tenant.workspace_id is None else "workspace_id"


class LogPage(NamedTuple):
    """A page of the log and the number of matching deliveries, counted up to 10,000."""

    rows: list[Delivery]
    total: int


class Search(NamedTuple):
    """A search: the conditions that an index answers, its order, and the conditions to check on each row."""

    leading: str
    order: str
    others: list[tuple[str, str]]
    ids: list[int] | None = None

    def sql(self) -> str:
        columns = ", ".join(dict.fromkeys(["id", *(column for column, _ in self.others)]))
        return FIND.format(
            columns=columns,
            leading=self.leading,
            order=self.order,
            others=" AND ".join(condition for _, condition in self.others) or "true",
            most_looked_at=MOST_LOOKED_AT,
        )


def read_log(filters: LogFilters, *, offset: int, size: int) -> LogPage:
    """Return a page of the matching deliveries, newest first, and their number."""
    ids, total = log_ids(filters, offset=offset, size=size)
    rows = (
        Delivery.objects.filter(pk__in=ids)
        .select_related("endpoint", "queued")
        .defer("body", "endpoint__secret")
        .order_by("-pk")
    )
    return LogPage(list(rows) if ids else [], total)


def log_ids(filters: LogFilters, *, offset: int, size: int) -> tuple[list[int], int]:
    """Return a page of the matching deliveries' ids, and their number.

    The last two days are read first and answer most queries. Planning a statement over all days costs more than running
    it.
    """
    first, end = _ids_between(filters)
    search, total, ids = _search(filters), 0, list[int]()
    for days in _recent_and_older(first, end):
        if total < MOST_COUNTED:
            page = {"most": MOST_COUNTED - total, "offset": max(0, offset - total), "size": size - len(ids)}
            count, found = _find(search, {**filters.values, **page}, days)
            total, ids = total + count, ids + found
    return ids, total


def _find(search: Search, values: Mapping[str, Any], days: tuple[int, int]) -> tuple[int, list[int]]:
    """Count the matches of these days, and return their ids on the page."""
    with connection.cursor() as cursor:
        cursor.execute(search.sql(), {**values, "first": days[0], "end": days[1], "ids": search.ids})
        count, ids = cursor.fetchone()
    return count, ids


def _search(filters: LogFilters) -> Search:
    """Choose the search. Rows that are found by id need no index of the tenant."""
    if filters.envelope_id:
        return _among(_select_ids(OF_ENVELOPE, filters, MOST_LOOKED_AT), filters)
    if filters.status == PENDING:
        queued = _select_ids(_queued_of(filters), filters, MOST_COUNTED + 1)
        if len(queued) <= MOST_COUNTED:
            return _among(queued, filters)
    fields = _leading_fields(filters)
    return Search(_leading(filters, fields), f"{fields[-1]}, ", list(_others(filters, fields)))


def _among(ids: list[int], filters: LogFilters) -> Search:
    return Search("id = ANY (%(ids)s)", "", list(_others(filters, ())), ids)


def _queued_of(filters: LogFilters) -> str:
    own = (
        "endpoint.workspace_id IS NULL" if filters.owner == "agency_id" else "endpoint.workspace_id = %(workspace_id)s"
    )
    one = "endpoint.id = %(endpoint_id)s"
    return QUEUED.format(endpoints=one if filters.endpoint else f"endpoint.agency_id = %(agency_id)s AND {own}")


def _select_ids(sql: str, filters: LogFilters, most: int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(sql, {**filters.values, "most": most})
        return [row[0] for row in cursor.fetchall()]


def _leading_fields(filters: LogFilters) -> tuple[str, ...]:
    """Return the columns of the index that finds the fewest rows (see `Delivery.Meta.indexes`)."""
    if filters.workspace and filters.owner == "agency_id":
        return "agency_id", "workspace_uuid"
    if filters.endpoint:
        return ("endpoint_id",)
    if filters.event and (filters.owner == "agency_id" or filters.status != ERROR):
        return filters.owner, "event_name"
    return (filters.owner,)


def _leading(filters: LogFilters, fields: tuple[str, ...]) -> str:
    """Return the conditions on the index's columns. The last column is a range, and comes first in the ORDER BY.

    With a plain equality the planner might walk the primary key instead, past all newer rows of other tenants.
    """
    *equal, last = fields
    conditions = [f"{field} = %({field})s" for field in equal]
    conditions += [f"{last} >= %({last})s", f"{last} <= %({last})s"]
    if filters.owner == "agency_id" and "endpoint_id" not in fields:
        conditions.append("workspace_id IS NULL")
    if filters.status == ERROR and "workspace_uuid" not in fields:
        conditions.append("failed_at IS NOT NULL")
    return " AND ".join(conditions)


def _others(filters: LogFilters, leading: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the columns and conditions that the index does not answer."""
    asked = {name for name, value in filters.values.items() if value is not None} - set(leading)
    if not leading:
        yield "agency_id", "agency_id = %(agency_id)s"
        yield "workspace_id", "workspace_id IS NOT DISTINCT FROM %(workspace_id)s"
    for column in ("endpoint_id", "event_name", "workspace_uuid"):
        if column in asked:
            yield column, f"{column} = %({column})s"
    if filters.status and (filters.status != ERROR or not leading or "workspace_uuid" in leading):
        yield "status", "status = %(status)s"
    if filters.created_after:
        yield "created_at", "created_at >= %(created_after)s"
    if filters.created_before:
        yield "created_at", "created_at < %(created_before)s"


def _ids_between(filters: LogFilters) -> tuple[int, int]:
    """Return the range of primary keys for the filtered time. Our clock may be a day off the database's."""
    now = timezone.now()
    first, end = 0, first_id(now.date() + 2 * A_DAY)
    if filters.created_after:
        first = first_delivery_since(filters.created_after, now=now, aside=-CLOCKS_DIFFER)
    if filters.created_before:
        end = first_delivery_since(filters.created_before, now=now, aside=CLOCKS_DIFFER)
    return first, end


def _recent_and_older(first: int, end: int) -> Iterator[tuple[int, int]]:
    yesterday = first_id(timezone.now().date() - A_DAY)
    if end > max(first, yesterday):
        yield max(first, yesterday), end
    if first < min(end, yesterday):
        yield first, min(end, yesterday)
