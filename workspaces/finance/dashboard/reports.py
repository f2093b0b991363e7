"""The finance overview, the tax report, and the forms of the files to download."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from agency.pages.charts import BucketLabel, Chart, ChartSource, Period, PeriodChoice, Series, draw
from config.db import database_now
from config.formats import format_day
from workspaces.contacts.models import Contact
from workspaces.contacts.pages import TimelineEntry
from workspaces.finance.models import Invoice, Payment, Refund
from workspaces.finance.services.payouts import expected_payouts
from workspaces.finance.services.reports import (
    MONTHS_SHOWN,
    MonthPaid,
    Months,
    Owed,
    PaidByMonth,
    TaxOfMonth,
    oldest_overdue,
    owed_by_contact,
    owed_by_currency,
    paid_by_month,
    taxes_by_month,
)
from workspaces.subaccounts.dashboard.base import DashboardView
from workspaces.subaccounts.services.money import format_money

OVERVIEW: Final = "app:finance"
MOST_OF_CONTACT: Final = 5
YEARS: Final = range(2000, 2200)
MONTH: Final = timedelta(days=30)


@dataclass(frozen=True)
class MonthPeriod(Period):
    """The steps of a chart, each a month by the workspace's clock."""

    @property
    def labels(self) -> list[BucketLabel]:
        return [BucketLabel(start.date().isoformat(), format_day(start, "yMMMM")) for start in self.starts]

    @classmethod
    def of(cls, months: Months) -> "MonthPeriod":
        kind = PeriodChoice("months", "", months.number, MONTH)
        return cls(kind, tuple(datetime(day.year, day.month, 1, tzinfo=months.zone) for day in months.days))


@dataclass(frozen=True, slots=True)
class CurrencyOverview:
    """All figures of one currency, in minor units."""

    currency: str
    owed: Owed | None
    this_month: MonthPaid
    year: MonthPaid
    chart: Chart


def overview_of(owed: Iterable[Owed], paid: PaidByMonth, months: Months) -> Iterator[CurrencyOverview]:
    """Yield the figures of each currency in which something is owed or was paid."""
    owed_in = {one.currency: one for one in owed}
    for currency in sorted({*owed_in, *paid}):
        by_month = paid.get(currency, {})
        yield CurrencyOverview(
            currency,
            owed_in.get(currency),
            by_month.get(months.days[-1], MonthPaid()),
            sum_of(by_month.values()),
            chart_of(currency, by_month, months),
        )


def sum_of(found: Iterable[MonthPaid]) -> MonthPaid:
    rows = list(found)
    return MonthPaid(*(sum(getattr(row, name) for row in rows) for name in ("paid", "fees", "returned")))


def chart_of(currency: str, by_month: Mapping[date, MonthPaid], months: Months) -> Chart:
    """Draw what came in and what went back in each month."""
    period = MonthPeriod.of(months)

    def counts(name: str) -> dict[datetime, int]:
        known = zip(months.days, period.starts, strict=True)
        return {start: getattr(by_month.get(day, MonthPaid()), name) for day, start in known}

    series = (
        Series(label=_("Paid"), counts=counts("paid"), look="good"),
        Series(label=_("Returned"), counts=counts("returned"), look="bad"),
    )
    source = ChartSource(name=currency, label=currency, order=0, url_name=OVERVIEW, series=lambda *_: series)
    return draw(source, series, period)


class FinanceOverview(DashboardView):
    """What is owed and overdue, what was paid in twelve months, the oldest overdue invoices, and the next payouts."""

    nav = OVERVIEW

    def get(self, request: HttpRequest) -> HttpResponse:
        now, zone = database_now(), ZoneInfo(self.workspace.timezone)
        months = Months.until(now, zone=zone)
        owed = owed_by_currency(Invoice.objects.of(self.workspace), now=now)
        overview = list(overview_of(owed, paid_by_month(self.workspace, months), months))
        late = oldest_overdue(self.workspace, now=now) if any(one.overdue for one in owed) else []
        payouts = expected_payouts(self.workspace, today=now.astimezone(zone).date())
        return self.page("finance/overview.html", overview=overview, overdue=late, payouts=payouts, now=now, zone=zone)


def months_of_year(asked: str, now: datetime, zone: ZoneInfo) -> Months:
    """Return the months of the year that the address names, or of this year."""
    this = now.astimezone(zone).year
    year = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) == 4 else this
    return Months(date(year if year in YEARS else this, 1, 1), MONTHS_SHOWN, zone)


@dataclass(frozen=True, slots=True)
class TaxGroup:
    """The taxes of a month, and of the year if `month` is None."""

    month: date | None
    rows: Sequence[TaxOfMonth]


def by_month(rows: Iterable[TaxOfMonth]) -> list[TaxGroup]:
    """Group the taxes, the newest month first."""
    groups: dict[date, list[TaxOfMonth]] = {}
    for row in rows:
        groups.setdefault(row.month, []).append(row)
    return [TaxGroup(month, found) for month, found in groups.items()]


class TaxReport(DashboardView):
    """The taxes of a year by month and rate, from issued invoices and credit notes, by their date of issue."""

    nav = OVERVIEW

    def get(self, request: HttpRequest) -> HttpResponse:
        now, zone = database_now(), ZoneInfo(self.workspace.timezone)
        months = months_of_year(request.GET.get("year", ""), now, zone)
        year = months.first.year
        return self.page(
            "finance/taxes.html",
            groups=by_month(taxes_by_month(self.workspace, months)),
            year=year,
            earlier=year - 1 if year - 1 in YEARS else None,
            later=year + 1 if year < now.astimezone(zone).year else None,
        )


# On pages about a contact ---------------------------------------------------------------------------------------


def invoices_of_contact(contact: Contact) -> Mapping[str, object]:
    """Give a contact's newest invoices and what it owes, for its page and for the inbox."""
    now = database_now()
    rows = Invoice.objects.filter(contact=contact, workspace=contact.workspace_id).newest_first()
    found = list(rows[: MOST_OF_CONTACT + 1])
    return {
        "invoices": found[:MOST_OF_CONTACT],
        "has_more": len(found) > MOST_OF_CONTACT,
        "owed": owed_by_contact(contact, now=now) if found else [],
        "contact": contact,
        "now": now,
    }


def money_of_timeline(contact: Contact, before: datetime, most: int) -> list[TimelineEntry]:
    """Give the newest invoices that a contact was issued, payments of them and refunds, for the contact's timeline."""
    own = Invoice.objects.filter(contact=contact, workspace=contact.workspace_id)
    issued = own.filter(issued_at__lt=before).order_by("-issued_at", "-id")
    paid = Payment.objects.filter(invoice__in=own, received_at__lt=before).order_by("-received_at", "-id")
    back = Refund.objects.filter(payment__invoice__in=own, status=Refund.Status.SUCCEEDED, ended_at__lt=before)
    back = back.select_related("payment__invoice").order_by("-ended_at", "-id")
    rows = [
        *((one.issued_at, _issued(one), one.total, one) for one in issued[:most]),
        *(
            (one.received_at, _("Payment received"), one.amount, one.invoice)
            for one in paid.select_related("invoice")[:most]
        ),
        *((one.ended_at, _("Refund succeeded"), one.amount, one.payment.invoice) for one in back[:most]),
    ]
    return [
        TimelineEntry(
            at=at,
            icon="plan",
            title=title,
            text=format_money(amount, invoice.currency),
            url=reverse("app:invoice", args=[invoice.uuid]),
        )
        for at, title, amount, invoice in rows
        if at is not None
    ]


def _issued(invoice: Invoice) -> str:
    is_note = invoice.kind == Invoice.Kind.CREDIT_NOTE
    text = _("Credit note issued: %(number)s") if is_note else _("Invoice issued: %(number)s")
    return text % {"number": invoice.number}
