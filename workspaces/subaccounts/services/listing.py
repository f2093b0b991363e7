"""Pages of an agency's sub-accounts, in SQL that an index answers in the order of the page.

A queryset selects the sub-accounts, with conditions on their own columns only. The statement that finds a page is
written here, because the ORM cannot write it.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from agency.models import Agency
from config.db import dictfetchall

ROWS = """
SELECT {columns}
FROM ({page}) page
JOIN subaccounts_workspace workspace ON workspace.id = page.id
LEFT JOIN agency_plan plan ON plan.id = workspace.plan_id
ORDER BY {order}
"""
PAGE = "SELECT id FROM subaccounts_workspace WHERE {where} ORDER BY {order} LIMIT %s OFFSET %s"
# If a search has few hits, they are fetched by the search index and then sorted. Without the fence `OFFSET 0` the
# planner would walk through all newer sub-accounts until it has met enough hits.
PAGE_OF_FEW = (
    "SELECT id FROM (SELECT id, {fields} FROM subaccounts_workspace WHERE {where} OFFSET 0) hit "
    "ORDER BY {order} LIMIT %s OFFSET %s"
)
NEWEST_FIRST = ("-created_at", "-id")
FEW = 2_000
EVERYTHING = "agency_id = %s"


def count_of(agency: Agency, rows: "QuerySet[Any] | None") -> int:
    """Count these sub-accounts of the agency. For all of them (None) the agency's row has the number."""
    return agency.sub_account_count if rows is None else rows.count()


def rows_of(
    agency: Agency,
    rows: "QuerySet[Any] | None",
    *,
    columns: Sequence[str],
    offset: int,
    limit: int,
    total: int,
    is_search: bool = False,
    is_capped: bool = False,
    order: tuple[str, ...] = NEWEST_FIRST,
) -> list[dict[str, Any]]:
    """Give rows with these columns (`name`, `plan__uuid`) from `offset` on, in the order of these fields.

    `rows` are some of the agency's sub-accounts; None stands for all. Pages past the middle of the list are read from
    its other end, unless `is_capped` says that there are more rows than `total`. `is_search` says that the conditions
    include a search.
    """
    limit = min(limit, total - offset)
    if limit <= 0:
        return []
    from_the_end = offset > total // 2 and not is_capped
    skipped = total - offset - limit if from_the_end else offset
    where, values = (EVERYTHING, [agency.pk]) if rows is None else _conditions(rows)
    statement = _statement(tuple(columns), where, order, from_the_end, is_search and total <= FEW and not is_capped)
    with connection.cursor() as cursor:
        cursor.execute(statement, [*values, limit, skipped])
        return dictfetchall(cursor)


def _conditions(rows: "QuerySet[Any]") -> tuple[str, list[Any]]:
    """Give a queryset's WHERE clause and its values."""
    compiler = rows.query.get_compiler(connection=connection)
    where, values = compiler.compile(rows.query.where)
    return where, list(values)


@lru_cache(maxsize=256)
def _statement(columns: tuple[str, ...], where: str, order: tuple[str, ...], from_the_end: bool, are_few: bool) -> str:
    fields = ", ".join(name.removeprefix("-") for name in order if name.removeprefix("-") != "id")
    walked = _order_by(order, reverse=from_the_end)
    page = (PAGE_OF_FEW if are_few else PAGE).format(where=where, order=walked, fields=fields)
    return ROWS.format(columns=_select_list(columns), page=page, order=_order_by(order, prefix="workspace."))


def _order_by(order: tuple[str, ...], *, reverse: bool = False, prefix: str = "") -> str:
    """Write fields such as `-created_at` as an ORDER BY, or as the opposite order with `reverse`."""
    ways = ((name.removeprefix("-"), name.startswith("-") is not reverse) for name in order)
    return ", ".join(f"{prefix}{name} {'DESC' if descends else 'ASC'}" for name, descends in ways)


def _select_list(columns: Sequence[str]) -> str:
    """Write `plan__uuid` as `plan.uuid AS plan__uuid`. Columns without a relation are the sub-account's."""
    parts = ((column, *column.rpartition("__")) for column in columns)
    return ", ".join(f"{relation or 'workspace'}.{name} AS {column}" for column, relation, _, name in parts)
