"""Keeps what the provider's statuses report as billed, by broadcast and month, and prices it by the rate card."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any, Final, NamedTuple

from django.db import connection

from broadcasts.models import BilledCount, Broadcast
from broadcasts.services.costs.rates import billing_currency, category_of, price_of, prices_on
from config.leases.arrays import integers

MOST_LINES: Final = 500
ADD = """
INSERT INTO broadcasts_billedcount AS kept (broadcast_id, month, category, market, is_billable, number)
SELECT * FROM unnest(%s::bigint[], %s::date[], %s::text[], %s::text[], %s::boolean[], %s::int[])
    AS added (broadcast_id, month, category, market, is_billable, number)
ORDER BY broadcast_id, month, category, market, is_billable
ON CONFLICT (broadcast_id, month, category, market, is_billable) DO UPDATE SET number = kept.number + excluded.number
"""


class Billed(NamedTuple):
    """The key under which billed messages are counted. The month is its first day, in UTC."""

    broadcast_id: int
    month: date
    category: str
    market: str
    is_billable: bool


@dataclass(frozen=True, slots=True)
class BilledLine:
    """The number of messages of a month, category and market. `cost` follows the rate card; None without a rate."""

    month: date
    category: str
    market: str
    is_billable: bool
    number: int
    cost: Decimal | None
    currency: str


def add_billed(counts: Mapping[Billed, int], *, cursor: Any = None) -> None:
    """Add billed messages, inside the caller's transaction. Each counts once, when it is first known as delivered.

    `cursor` may belong to a worker's own connection; otherwise the project's connection is used.
    """
    if not counts:
        return
    keys = sorted(counts)
    columns: list[Any] = [
        integers(key.broadcast_id for key in keys),
        [key.month for key in keys],
        [category_of(key.category) for key in keys],
        [key.market for key in keys],
        [key.is_billable for key in keys],
        integers(counts[key] for key in keys),
    ]
    if cursor is not None:
        cursor.execute(ADD, columns)
        return
    with connection.cursor() as own:
        own.execute(ADD, columns)


def billed_lines(broadcast: Broadcast) -> list[BilledLine]:
    """Return what was billed for a broadcast, newest month first."""
    currency = billing_currency()
    rows = BilledCount.objects.filter(broadcast_id=broadcast.pk).order_by(
        "-month", "category", "-is_billable", "market"
    )[:MOST_LINES]

    # A month has the prices of its first day, because rate cards change by the quarter.
    @cache
    def prices(month: date, category: str) -> dict[str, Decimal]:
        return prices_on(month, category=category, currency=currency)

    def cost(row: BilledCount) -> Decimal | None:
        if not row.is_billable:
            return Decimal(0)
        price = price_of(row.market, prices(row.month, row.category))
        return None if price is None else price * row.number

    return [
        BilledLine(row.month, row.category, row.market, row.is_billable, row.number, cost(row), currency)
        for row in rows
    ]
