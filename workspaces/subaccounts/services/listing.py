"""Pages of an agency's sub-accounts, and the search for sub-accounts and channels, in SQL that indexes answer.

A queryset selects the sub-accounts, with conditions on their own columns only. The statement that finds a page is
written here, because the ORM cannot write it.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from django.db import connection
from django.db.models import CharField, F, Func, Q, QuerySet
from django.db.models.functions import Lower

from agency.limits import CHANNEL_TYPES
from agency.models import Agency
from config.api.requests import parse_uuid
from config.db import dictfetchall, like_pattern, name_key, prefix_pattern
from workspaces.subaccounts.models import Channel, Workspace
from workspaces.subaccounts.models.workspaces import search_condition

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
PAGE_OF_FEW_HITS = (
    "SELECT id FROM (SELECT id, {fields} FROM subaccounts_workspace WHERE {where} OFFSET 0) hit "
    "ORDER BY {order} LIMIT %s OFFSET %s"
)
NEWEST_FIRST = ("-created_at", "-id")
MOST_SORTED_HITS = 2_000
ALL_OF_AGENCY = "agency_id = %s"


def count_sub_accounts(agency: Agency, rows: "QuerySet[Workspace] | None") -> int:
    """Count these sub-accounts of the agency. For all of them (None) the agency's row has the number."""
    return agency.sub_account_count if rows is None else rows.count()


def sub_account_rows(
    agency: Agency,
    rows: "QuerySet[Workspace] | None",
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
    where, values = (ALL_OF_AGENCY, [agency.pk]) if rows is None else _where_clause(rows)
    statement = _statement(
        tuple(columns), where, order, from_the_end, is_search and total <= MOST_SORTED_HITS and not is_capped
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [*values, limit, skipped])
        return dictfetchall(cursor)


def _where_clause(rows: "QuerySet[Workspace]") -> tuple[str, list[object]]:
    """Give a queryset's WHERE clause and its values."""
    compiler = rows.query.get_compiler(connection=connection)
    where, values = compiler.compile(rows.query.where)
    return where, list(values)


@lru_cache(maxsize=256)
def _statement(columns: tuple[str, ...], where: str, order: tuple[str, ...], from_the_end: bool, are_few: bool) -> str:
    fields = ", ".join(name.removeprefix("-") for name in order if name.removeprefix("-") != "id")
    walked = _order_by(order, reverse=from_the_end)
    page = (PAGE_OF_FEW_HITS if are_few else PAGE).format(where=where, order=walked, fields=fields)
    return ROWS.format(columns=_select_list(columns), page=page, order=_order_by(order, prefix="workspace."))


def _order_by(order: tuple[str, ...], *, reverse: bool = False, prefix: str = "") -> str:
    """Write fields such as `-created_at` as an ORDER BY, or as the opposite order with `reverse`."""
    ways = ((name.removeprefix("-"), name.startswith("-") is not reverse) for name in order)
    return ", ".join(f"{prefix}{name} {'DESC' if descends else 'ASC'}" for name, descends in ways)


def _select_list(columns: Sequence[str]) -> str:
    """Write `plan__uuid` as `plan.uuid AS plan__uuid`. Columns without a relation are the sub-account's."""
    parts = ((column, *column.rpartition("__")) for column in columns)
    return ", ".join(f"{relation or 'workspace'}.{name} AS {column}" for column, relation, _, name in parts)


# The search: indexes answer every query.

# If more rows match, only this many are ranked. The user then needs a longer query.
MOST_RANKED: Final = 1_000
TRIGRAM: Final = 3


class Digits(Func):
    """The digits of a text, as the indexes on phone numbers hold them."""

    function = "regexp_replace"
    template = r"%(function)s(%(expressions)s, '\D', '', 'g')"
    output_field = CharField()


def find_workspaces(agency: Agency | None, query: str, *, digits: str, most: int) -> list[Workspace]:
    """Find sub-accounts by name, owner, e-mail and ids, and by phone number if there are `digits`.

    Sub-accounts with exactly this name come first, then names that begin with the query. Without `agency`, support
    searches all agencies; then fewer than three characters find nothing, because no index answers them.
    """
    key = name_key(query)
    if agency is None and len(key) < TRIGRAM:
        return []
    own = Workspace.objects.select_related("agency") if agency is None else Workspace.objects.of(agency)
    rows = own.annotate(external_key=Lower("external_id"), phone_digits=Digits(F("phone")))
    hits: list[tuple[int, str]] = list(
        rows.filter(_search_conditions(query, key, digits)).values_list("id", "name_key")[:MOST_RANKED]
    )
    best = sorted(hits, key=lambda hit: (hit[1] != key, not hit[1].startswith(key), hit[1], hit[0]))[:most]
    found = own.in_bulk([number for number, _ in best]) if best else {}
    return [found[number] for number, _ in best if number in found]


def _search_conditions(query: str, key: str, digits: str) -> Q:
    """Give the condition. Fewer than three characters match only beginnings of names, for lack of a trigram.

    A complete uuid matches as a uuid and in external ids.
    """
    if uuid := parse_uuid(query):
        return Q(uuid=uuid) | Q(external_key__like=like_pattern(key))
    if len(key) < TRIGRAM:
        return Q(name_key__like=prefix_pattern(key))
    conditions = search_condition(query) | Q(external_key__like=like_pattern(key))
    return conditions | Q(phone_digits__like=like_pattern(digits)) if digits else conditions


def find_channels(agency: Agency | None, query: str, *, digits: str, most: int) -> "QuerySet[Channel]":
    """Find connected channels by the provider's id, and by phone number if there are `digits`.

    Without `agency`, support searches all agencies.
    """
    conditions = Q(external_id=query, platform__in=CHANNEL_TYPES)
    if digits:
        conditions |= Q(handle_digits__like=like_pattern(digits))
    rows = Channel.objects.annotate(handle_digits=Digits(F("handle"))).filter(conditions)
    own = rows if agency is None else rows.filter(workspace__agency=agency)
    connected = own.exclude(status=Channel.Status.DISCONNECTED)
    return connected.select_related("workspace__agency").order_by("handle", "id")[:most]
