"""Invoices, payments, taxes and payouts as CSV files. A file is written while it is sent, some rows at a time."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from io import StringIO
from typing import Final, TypeVar
from zoneinfo import ZoneInfo

from django.db.models import Model, Q, QuerySet

from agency.services.exports import escape_formula
from config.errors import InvalidInput
from workspaces.finance.models import Invoice, Payment, Payout, PayoutTransaction
from workspaces.finance.services.reports import Months, start_of_day, taxes_by_month
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.money import from_minor

Row = TypeVar("Row", bound=Model)
ROWS_AT_ONCE: Final = 1_000
MOST_ROWS: Final = 100_000
MOST_DAYS: Final = 366
INVOICE_COLUMNS: Final = (
    "number",
    "kind",
    "credits",
    "status",
    "issued_on",
    "supplied_on",
    "due_on",
    "customer",
    "customer_vat_id",
    "currency",
    "net",
    "tax",
    "total",
    "paid",
    "credited",
    "owed",
    "paid_on",
)
PAYMENT_COLUMNS: Final = (
    "received_at",
    "invoice",
    "customer",
    "method",
    "currency",
    "amount",
    "fee",
    "refunded",
    "disputed",
    "provider_id",
    "note",
)
PAYOUT_COLUMNS: Final = (
    "payout",
    "arrives_on",
    "kind",
    "created_at",
    "invoice",
    "customer",
    "currency",
    "amount",
    "fee",
    "net",
    "provider_kind",
    "provider_id",
    "description",
)
TAX_COLUMNS: Final = ("month", "currency", "rate", "percent", "reverse_charge", "base", "tax")


IS_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def csv_line(cells: Iterable[str]) -> str:
    """Write cells as a line, in quotation marks and without formulas. An amount stays a number, also below zero."""
    written = StringIO()
    safe = (cell if IS_NUMBER.fullmatch(cell) else escape_formula(cell) for cell in cells)
    csv.writer(written, quoting=csv.QUOTE_ALL).writerow(safe)
    return written.getvalue()


class NoSuchDays(InvalidInput):
    """The days of an export are in the wrong order, or too many."""


class TooManyRows(InvalidInput):
    message = "There are more than 100,000 rows in this time. Choose fewer days."


@dataclass(frozen=True, slots=True)
class Days:
    """Whole days by a workspace's clock, the last one included. Times are written by the clock of `reader`."""

    first: date
    last: date
    zone: ZoneInfo
    reader: ZoneInfo

    @property
    def start(self) -> datetime:
        return start_of_day(self.first, self.zone)

    @property
    def end(self) -> datetime:
        """The first moment after the last day."""
        return start_of_day(self.last + timedelta(days=1), self.zone)

    def local_day(self, moment: datetime | None) -> str:
        return moment.astimezone(self.zone).date().isoformat() if moment else ""

    def check(self) -> None:
        """Raise `NoSuchDays` if the last day is before the first one, or they are more than a year apart."""
        if self.last < self.first:
            raise NoSuchDays("The last day is before the first day.", field="last")
        if (self.last - self.first).days >= MOST_DAYS:
            raise NoSuchDays("A file holds at most 366 days.", field="last")


def issued_invoices(workspace: Workspace, days: Days) -> "QuerySet[Invoice]":
    """Return the invoices and credit notes that were issued in these days."""
    return Invoice.objects.of(workspace).filter(issued_at__gte=days.start, issued_at__lt=days.end)


def received_payments(workspace: Workspace, days: Days) -> "QuerySet[Payment]":
    """Return the payments that arrived in these days."""
    return Payment.objects.filter(workspace=workspace, received_at__gte=days.start, received_at__lt=days.end)


def check_size(*lists: "QuerySet[Model]", most: int = MOST_ROWS) -> None:
    """Raise `TooManyRows` if the lists have more rows together than a file may hold."""
    found = sum(rows.order_by().values("pk")[: most + 1].count() for rows in lists)
    if found > most:
        raise TooManyRows


def batches(rows: "QuerySet[Row]", moment: str, *, size: int = ROWS_AT_ONCE) -> Iterator[list[Row]]:
    """Yield all rows in the order of a time and the id, some at a time. Each statement begins after the last row."""
    ordered = rows.order_by(moment, "id")
    found = list(ordered[:size])
    while found:
        yield found
        last = found[-1]
        after = getattr(last, moment)
        later = Q(**{f"{moment}__gt": after}) | Q(**{moment: after, "id__gt": last.pk})
        # The second condition says the same for the first column alone, so that the index can begin there.
        found = list(ordered.filter(later, **{f"{moment}__gte": after})[:size])


def exported_invoices(workspace: Workspace, days: Days) -> Iterator[str]:
    """Yield the invoices and credit notes that were issued in these days, as lines of CSV. Raises `TooManyRows`."""
    rows = issued_invoices(workspace, days)
    check_size(rows)
    return _lines(INVOICE_COLUMNS, rows.select_related("credits"), "issued_at", lambda row: _invoice_cells(row, days))


def exported_payments(workspace: Workspace, days: Days) -> Iterator[str]:
    """Yield the payments that arrived in these days, as lines of CSV. Raises `TooManyRows`."""
    rows = received_payments(workspace, days)
    check_size(rows)
    shown = rows.select_related("invoice")
    return _lines(PAYMENT_COLUMNS, shown, "received_at", lambda row: _payment_cells(row, days))


def exported_payout(payout: Payout, *, reader: ZoneInfo) -> Iterator[str]:
    """Yield what a payout consists of, as lines of CSV. Times are written by the clock of `reader`."""
    rows = PayoutTransaction.objects.filter(payout=payout).select_related("payment__invoice")
    return _lines(PAYOUT_COLUMNS, rows, "created_at", lambda row: _payout_cells(payout, row, reader))


def exported_taxes(workspace: Workspace, days: Days) -> Iterator[str]:
    """Yield the taxes of the months in which these days are, as lines of CSV."""
    number = (days.last.year - days.first.year) * 12 + days.last.month - days.first.month + 1
    yield csv_line(TAX_COLUMNS)
    for row in taxes_by_month(workspace, Months(days.first.replace(day=1), number, days.zone)):
        yield csv_line(
            (
                row.month.strftime("%Y-%m"),
                row.currency,
                row.name,
                plain_percent(row.percent),
                "yes" if row.reverse_charge else "",
                written_amount(row.base, row.exponent),
                written_amount(row.tax, row.exponent),
            )
        )


def plain_percent(percent: Decimal) -> str:
    """Write a percentage without needless decimals."""
    return f"{percent.normalize():f}"


def written_amount(minor: int, exponent: int) -> str:
    """Write an amount with a point and the decimals of its currency."""
    return f"{from_minor(minor, exponent):.{exponent}f}"


def _lines(
    columns: tuple[str, ...], rows: "QuerySet[Row]", moment: str, cells: Callable[[Row], tuple[str, ...]]
) -> Iterator[str]:
    yield csv_line(columns)
    for batch in batches(rows, moment):
        yield "".join(csv_line(cells(row)) for row in batch)


def _invoice_cells(invoice: Invoice, days: Days) -> tuple[str, ...]:
    amounts = (invoice.net, invoice.tax, invoice.total, invoice.paid, invoice.credited)
    owed = invoice.balance if invoice.kind == Invoice.Kind.INVOICE and invoice.status == Invoice.Status.OPEN else 0
    return (
        invoice.number or "",
        invoice.kind,
        (invoice.credits.number or "") if invoice.credits else "",
        invoice.status,
        days.local_day(invoice.issued_at),
        invoice.supplied_on.isoformat() if invoice.supplied_on else "",
        days.local_day(invoice.due_at),
        str(invoice.buyer.get("name", "")),
        str(invoice.buyer.get("vat_id", "")),
        invoice.currency,
        *(written_amount(amount, invoice.exponent) for amount in (*amounts, owed)),
        days.local_day(invoice.paid_at),
    )


def _payment_cells(payment: Payment, days: Days) -> tuple[str, ...]:
    invoice = payment.invoice
    return (
        payment.received_at.astimezone(days.reader).isoformat(timespec="seconds"),
        invoice.number or "",
        str(invoice.buyer.get("name", "")),
        payment.method,
        payment.currency,
        written_amount(payment.amount, invoice.exponent),
        "" if payment.fee is None else written_amount(payment.fee, invoice.exponent),
        written_amount(payment.refunded, invoice.exponent),
        written_amount(payment.disputed, invoice.exponent),
        payment.provider_id,
        payment.note,
    )


def _payout_cells(payout: Payout, row: PayoutTransaction, reader: ZoneInfo) -> tuple[str, ...]:
    invoice = row.payment_invoice
    return (
        payout.provider_id,
        payout.arrives_on.isoformat(),
        row.kind,
        row.created_at.astimezone(reader).isoformat(timespec="seconds"),
        (invoice.number or "") if invoice else "",
        str(invoice.buyer.get("name", "")) if invoice else "",
        payout.currency,
        *(written_amount(amount, payout.exponent) for amount in (row.amount, row.fee, row.net)),
        row.provider_kind,
        row.source_id,
        row.description,
    )
