"""What a workspace is owed, what it was paid in each month, and its taxes. Each figure is one statement."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from django.db.models import Case, Count, DateField, F, Q, QuerySet, Sum, Value, When
from django.db.models.functions import TruncMonth

from workspaces.contacts.models import Contact
from workspaces.finance.models import Dispute, Invoice, InvoiceTax, Payment, Refund
from workspaces.subaccounts.models import Workspace

BALANCE: Final = F("total") - F("credited") - F("paid")
IS_OWED: Final = Q(kind=Invoice.Kind.INVOICE, status=Invoice.Status.OPEN)
# A credit note takes back what its invoice has brought.
SIGN: Final = Case(When(invoice__kind=Invoice.Kind.CREDIT_NOTE, then=Value(-1)), default=Value(1))
MONTHS_SHOWN: Final = 12
MOST_MONTHS: Final = 24
# Each is a rate of a currency in a month.
MOST_TAX_ROWS: Final = 5_000
MOST_OVERDUE: Final = 10


@dataclass(frozen=True, slots=True)
class Months:
    """Whole months by a workspace's clock, the first one given by its first day."""

    first: date
    number: int
    zone: ZoneInfo

    @classmethod
    def until(cls, now: datetime, *, zone: ZoneInfo, number: int = MONTHS_SHOWN) -> "Months":
        """Return the month of `now` and those before it."""
        return cls(add_months(now.astimezone(zone).date().replace(day=1), 1 - number), number, zone)

    @property
    def days(self) -> list[date]:
        """The first day of each month."""
        return [add_months(self.first, number) for number in range(self.number)]

    @property
    def start(self) -> datetime:
        return start_of_day(self.first, self.zone)

    @property
    def end(self) -> datetime:
        """The first moment after the last month."""
        return start_of_day(add_months(self.first, self.number), self.zone)


def add_months(first: date, number: int) -> date:
    """Return the first day of the month that is so many months after the one of `first`."""
    months = first.year * 12 + first.month - 1 + number
    return date(months // 12, months % 12 + 1, 1)


def start_of_day(day: date, zone: ZoneInfo) -> datetime:
    """Return the first moment of a day in the time zone."""
    return datetime(day.year, day.month, day.day, tzinfo=zone)


@dataclass(frozen=True, slots=True)
class Owed:
    """What is owed in one currency, in minor units, and by how many invoices."""

    currency: str
    exponent: int
    owed: int
    overdue: int
    invoices: int
    overdue_invoices: int


def owed_by_currency(rows: "QuerySet[Invoice]", *, now: datetime) -> list[Owed]:
    """Sum up what is owed on the open ones of these invoices."""
    late = Q(due_at__lt=now)
    found = (
        rows.filter(IS_OWED)
        .order_by("currency")
        .values("currency", "exponent")
        .annotate(
            owed=Sum(BALANCE),
            overdue=Sum(BALANCE, filter=late, default=0),
            invoices=Count("pk"),
            overdue_invoices=Count("pk", filter=late),
        )
    )
    return [Owed(**row) for row in found]


@dataclass(frozen=True, slots=True)
class MonthPaid:
    """What was paid in a month, what of it the provider kept as fees, and what went back, in minor units."""

    paid: int = 0
    fees: int = 0
    returned: int = 0

    @property
    def net(self) -> int:
        """What was paid, less what went back. Negative if more went back than came in."""
        return self.paid - self.returned


PaidByMonth = Mapping[str, Mapping[date, MonthPaid]]


def paid_by_month(workspace: Workspace, months: Months) -> PaidByMonth:
    """Sum up what arrived and what went back in each month, by currency. Refunds count in the month of their success.

    A payment that the payer's bank has taken back counts as returned in the month of its withdrawal.
    """
    sums: dict[str, dict[date, MonthPaid]] = defaultdict(dict)
    for currency, month, paid, fees in _arrived(workspace, months):
        sums[currency][month] = MonthPaid(paid, fees)
    for currency, month, amount in _returned(workspace, months):
        known = sums[currency].get(month, MonthPaid())
        sums[currency][month] = MonthPaid(known.paid, known.fees, known.returned + amount)
    return sums


def _month_of(field: str, months: Months) -> TruncMonth:
    return TruncMonth(field, tzinfo=months.zone, output_field=DateField())


def _arrived(workspace: Workspace, months: Months) -> "Iterable[tuple[str, date, int, int]]":
    rows = Payment.objects.filter(
        workspace=workspace, received_at__gte=months.start, received_at__lt=months.end
    ).annotate(month=_month_of("received_at", months))
    summed = rows.order_by().values("currency", "month").annotate(paid=Sum("amount"), fees=Sum("fee", default=0))
    return summed.values_list("currency", "month", "paid", "fees")


def _returned(workspace: Workspace, months: Months) -> "Iterable[tuple[str, date, int]]":
    """Sum up refunds and withdrawn disputes in one statement."""
    refunds = Refund.objects.filter(
        payment__workspace=workspace,
        status=Refund.Status.SUCCEEDED,
        ended_at__gte=months.start,
        ended_at__lt=months.end,
    ).annotate(month=_month_of("ended_at", months))
    disputes = Dispute.objects.filter(
        payment__workspace=workspace, withdrawn=True, changed_at__gte=months.start, changed_at__lt=months.end
    ).annotate(month=_month_of("changed_at", months))
    summed = (
        rows.order_by().values("payment__currency", "month").annotate(sum=Sum("amount")) for rows in (refunds, disputes)
    )
    first, second = (rows.values_list("payment__currency", "month", "sum") for rows in summed)
    return first.union(second, all=True)


@dataclass(frozen=True, slots=True)
class TaxOfMonth:
    """The tax of one rate in a month: the net amounts it is computed from, and the tax, less those of credit notes."""

    month: date
    currency: str
    exponent: int
    name: str
    percent: Decimal
    reverse_charge: bool
    base: int
    tax: int


def taxes_by_month(workspace: Workspace, months: Months) -> list[TaxOfMonth]:
    """Sum up the taxes of issued invoices and credit notes by the month of issue, by the workspace's clock."""
    rows = InvoiceTax.objects.filter(
        invoice__workspace=workspace, invoice__issued_at__gte=months.start, invoice__issued_at__lt=months.end
    ).annotate(
        month=_month_of("invoice__issued_at", months),
        currency=F("invoice__currency"),
        exponent=F("invoice__exponent"),
        reverse_charge=F("invoice__reverse_charge"),
    )
    groups = ("month", "currency", "exponent", "name", "percent", "reverse_charge")
    summed = rows.values(*groups).annotate(base_sum=Sum(F("base") * SIGN), tax_sum=Sum(F("tax") * SIGN))
    found = summed.order_by("-month", "currency", "-percent", "name", "reverse_charge")[:MOST_TAX_ROWS]
    return [
        TaxOfMonth(**{name: row[name] for name in groups}, base=row["base_sum"], tax=row["tax_sum"]) for row in found
    ]


def oldest_overdue(workspace: Workspace, *, now: datetime) -> list[Invoice]:
    """Return the first overdue invoices, those that are overdue for longest first, with their contacts."""
    late = Invoice.objects.of(workspace).filter(IS_OWED, due_at__lt=now).select_related("contact")
    return list(late.order_by("due_at", "id")[:MOST_OVERDUE])


@dataclass(frozen=True, slots=True)
class FilteredTotal:
    """The sum of a list's invoices in one currency, less its credit notes, and what is owed of it."""

    currency: str
    exponent: int
    total: int
    owed: int


def totals_of(rows: "QuerySet[Invoice]") -> list[FilteredTotal]:
    """Sum up the invoices of a list by currency. Credit notes are subtracted."""
    sign = Case(When(kind=Invoice.Kind.CREDIT_NOTE, then=Value(-1)), default=Value(1))
    summed = rows.order_by("currency").values("currency", "exponent")
    found = summed.annotate(sum=Sum(F("total") * sign), owed=Sum(BALANCE, filter=IS_OWED, default=0))
    return [FilteredTotal(row["currency"], row["exponent"], row["sum"], row["owed"]) for row in found]


def owed_by_contact(contact: Contact, *, now: datetime) -> list[Owed]:
    """Sum up what a contact owes."""
    return owed_by_currency(Invoice.objects.filter(contact=contact, workspace=contact.workspace_id), now=now)


# Totals of the sub-accounts of an agency ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SharedTotals:
    """What one sub-account is owed, and what it was paid in a while, in one currency."""

    currency: str
    owed: int = 0
    overdue: int = 0
    paid: int = 0


def shared_totals(
    workspaces: "Iterable[Workspace]", *, paid_since: datetime, now: datetime
) -> dict[int, list[SharedTotals]]:
    """Return the totals of some sub-accounts by their keys, in two statements."""
    keys = [workspace.pk for workspace in workspaces]
    sums: dict[tuple[int, str], dict[str, int]] = defaultdict(dict)
    owed = Invoice.objects.filter(IS_OWED, workspace__in=keys).order_by().values_list("workspace", "currency")
    late = Sum(BALANCE, filter=Q(due_at__lt=now), default=0)
    for workspace, currency, amount, overdue in owed.annotate(owed=Sum(BALANCE), overdue=late):
        sums[workspace, currency] |= {"owed": amount, "overdue": overdue}
    arrived = Payment.objects.filter(workspace__in=keys, received_at__gte=paid_since)
    for workspace, currency, amount in arrived.order_by().values_list("workspace", "currency").annotate(Sum("amount")):
        sums[workspace, currency] |= {"paid": amount}
    found: dict[int, list[SharedTotals]] = {key: [] for key in keys}
    for (workspace, currency), amounts in sorted(sums.items()):
        found[workspace].append(SharedTotals(currency, **amounts))
    return found
