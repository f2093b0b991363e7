"""What messages cost: rate cards and their import, the highest cost of a broadcast, and what the provider billed."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from functools import cache
from io import StringIO
from itertools import islice
from typing import Final, NamedTuple

from django.conf import settings
from django.db import connection, transaction

from agency.actors import Actor
from agency.services import record_activity
from broadcasts.models import BilledCount, Broadcast, Rate
from broadcasts.services.markets import COUNTRIES, OTHER, REGIONS, names_of
from channelconnect.services.allowance_keys import DatabaseCursor
from config.errors import InvalidInput
from config.postgresql.arrays import integers
from workspaces.subaccounts.services.money import decimals_of


def billing_currency() -> str:
    """The currency in which the provider bills the installation's business accounts."""
    return settings.BILLING_CURRENCY


def category_of(text: str) -> str:
    """Return a category's name in the form that rates and statuses share."""
    return text.strip().lower().replace("_", "-").replace(" ", "-")


def estimate(counts: Mapping[str, int], category: str, currency: str, on: date) -> Decimal | None:
    """Return the highest cost of messages to this many people in each market; None if a market has no rate.

    It assumes that each message is delivered, that none is free, and that no discount for volume applies.
    """
    prices = prices_on(on, category=category, currency=currency)
    total = Decimal(0)
    for market, number in counts.items():
        price = price_of(market, prices)
        if number and price is None:
            return None
        total += (price or 0) * number
    return total.quantize(Decimal(1).scaleb(-decimals_of(currency)), ROUND_CEILING) if prices else None


def prices_on(on: date, *, category: str, currency: str) -> dict[str, Decimal]:
    """Return the price of each market: the newest rate that is valid on a day."""
    valid = Rate.objects.filter(currency=currency, category=category_of(category), valid_from__lte=on)
    newest = valid.order_by("market", "-valid_from").distinct("market")
    return {market.lower(): price for market, price in newest.values_list("market", "price")}


def price_of(market: str, prices: Mapping[str, Decimal]) -> Decimal | None:
    """Return a country's price: its own, or its region's, or that of all others."""
    return next((prices[name.lower()] for name in names_of(market) if name.lower() in prices), None)


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


def add_billed(counts: Mapping[Billed, int], *, cursor: DatabaseCursor | None = None) -> None:
    """Add billed messages, inside the caller's transaction. Each counts once, when it is first known as delivered.

    `cursor` may belong to a worker's own connection; otherwise the project's connection is used.
    """
    if not counts:
        return
    keys = sorted(counts)
    columns: list[str | list[str] | list[date] | list[bool]] = [
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


COLUMNS: Final = ("currency", "category", "market", "price", "valid_from")
MOST_ROWS: Final = 20_000
MOST_BYTES: Final = 1024 * 1024
MOST_ERRORS: Final = 100
MOST_PLACES: Final = 6
HIGHEST: Final = Decimal(100_000)
BATCH: Final = 1_000


@dataclass(frozen=True, slots=True)
class RowError:
    """An error in a line of a file; the header is line 1."""

    line: int
    message: str


class RateCardRefused(InvalidInput):
    """The file has faulty lines, so none of its rates was imported."""

    message = "No rate of this file was imported."
    field = "file"

    def __init__(self, *errors: RowError) -> None:
        super().__init__()
        self.lines = errors


class _Wrong(Exception):
    """A cell does not hold a valid value."""


def import_rates(*, content: bytes, by: Actor) -> int:
    """Import the rates of a CSV file; existing rates get the new price. Returns the number of rows.

    The columns are currency, category, market (a country's code, a part of the world or other), price and valid_from.
    Raises `RateCardRefused` with the errors of each line, and changes nothing then.
    """
    rates, errors = _read(content)
    if errors:
        raise RateCardRefused(*errors)
    with transaction.atomic():
        Rate.objects.bulk_create(
            rates.values(),
            batch_size=BATCH,
            update_conflicts=True,
            unique_fields=["currency", "category", "market", "valid_from"],
            update_fields=["price"],
        )
        target = ("rate_card", "rates", "Rate card")
        record_activity(by=by, action="rates.imported", agency_id=None, target=target, details={"rows": len(rates)})
    return len(rates)


def _read(content: bytes) -> tuple[dict[tuple[str, str, str, date], Rate], list[RowError]]:
    rates: dict[tuple[str, str, str, date], Rate] = {}
    errors: list[RowError] = []
    try:
        for line, row in _rows(content):
            try:
                rate = _rate(row)
                key = (rate.currency, rate.category, rate.market, rate.valid_from)
                if key in rates:
                    raise _Wrong("This rate stands in an earlier line.")
                rates[key] = rate
            except _Wrong as wrong:
                errors.append(RowError(line, str(wrong)))
            if len(errors) == MOST_ERRORS:
                break
    except RateCardRefused as refused:
        return {}, list(refused.lines)
    if not rates and not errors:
        errors.append(RowError(1, "The file has no rates."))
    return rates, errors


def _rows(content: bytes) -> Iterator[tuple[int, Mapping[str, str]]]:
    if len(content) > MOST_BYTES:
        raise RateCardRefused(RowError(1, "The file may have 1 MiB at most."))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RateCardRefused(RowError(1, "The file is no UTF-8 text.")) from error
    header = text.partition("\n")[0]
    reader = csv.DictReader(StringIO(text, newline=""), delimiter=";" if header.count(";") > header.count(",") else ",")
    names = [(name or "").strip().lower() for name in reader.fieldnames or ()]
    missing = [name for name in COLUMNS if name not in names]
    if missing or len(set(names)) < len(names):
        raise RateCardRefused(RowError(1, f"The first line must name each of {', '.join(COLUMNS)} once."))
    reader.fieldnames = names
    try:
        for number, row in enumerate(islice(reader, MOST_ROWS + 1)):
            if number == MOST_ROWS:
                raise RateCardRefused(RowError(reader.line_num, f"The file may have {MOST_ROWS:,} rates at most."))
            yield reader.line_num, {name: (row[name] or "").strip() for name in COLUMNS}
    except csv.Error as error:
        raise RateCardRefused(RowError(reader.line_num, "This line is no CSV.")) from error


def _rate(row: Mapping[str, str]) -> Rate:
    return Rate(
        currency=_currency(row["currency"]),
        category=_category(row["category"]),
        market=_market(row["market"]),
        price=_price(row["price"]),
        valid_from=_day(row["valid_from"]),
    )


def _currency(text: str) -> str:
    if len(text) != 3 or not (text.isascii() and text.isalpha()):
        raise _Wrong("The currency must be a code of three letters, such as USD.")
    return text.upper()


def _category(text: str) -> str:
    category = category_of(text)
    if not category or len(category) > 40 or not category.replace("-", "").isalnum():
        raise _Wrong("The category must be a name such as marketing, utility or authentication.")
    return category


def _market(text: str) -> str:
    name = " ".join(text.lower().replace(" and ", " & ").split())
    if text.upper() in COUNTRIES:
        return text.upper()
    if name in REGIONS or name == OTHER:
        return name
    raise _Wrong(f"The market must be a country's code, such as DE, or one of: {', '.join((*REGIONS, OTHER))}.")


def _price(text: str) -> Decimal:
    try:
        price = Decimal(text)
    except InvalidOperation:
        price = Decimal(-1)
    if not price.is_finite() or not 0 <= price < HIGHEST or price != round(price, MOST_PLACES):
        raise _Wrong("The price must be a number of 0 or more with at most six decimals and a point.")
    return price


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise _Wrong("valid_from must be a day, such as 2026-10-01.") from error
