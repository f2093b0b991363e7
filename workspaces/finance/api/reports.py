"""What the workspace is owed and was paid, and its taxes, over the API."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from zoneinfo import ZoneInfo

from django.http import HttpResponse
from django.urls import path
from rest_framework.request import Request

from config.api.fields import BooleanField, FloatField, IntegerField, ListField
from config.api.operations import object_response, operation
from config.api.serializers import Serializer
from config.api.text_fields import CharField
from config.db import database_now
from workspaces.finance.models import Invoice
from workspaces.finance.services.reports import (
    MonthPaid,
    Months,
    Owed,
    PaidByMonth,
    TaxOfMonth,
    owed_by_currency,
    paid_by_month,
    taxes_by_month,
)
from workspaces.subaccounts.api.surface import WorkspaceViewSet
from workspaces.subaccounts.services.money import decimals_of, from_minor


class MonthSummarySerializer(Serializer):
    """What was paid in a month by the workspace's clock, and what went back."""

    month = CharField(example="2026-11")
    paid = FloatField(example=1_190.5)
    returned = FloatField(example=50.0, help_text="Refunds that succeeded, and payments that a bank took back.")
    fees = FloatField(example=12.3, help_text="What the payment provider kept of `paid`, as far as it says so.")


class TaxSummarySerializer(Serializer):
    """The tax of one rate in a month, from issued invoices and credit notes, by their date of issue."""

    month = CharField(example="2026-11")
    name = CharField(example="VAT", help_text="Empty for lines without a tax rate.")
    percent = FloatField(example=19.0)
    reverse_charge = BooleanField(example=False)
    net = FloatField(example=1_000.0)
    tax = FloatField(example=190.0)


class CurrencySummarySerializer(Serializer):
    """All figures of one currency."""

    currency = CharField(example="EUR")
    owed = FloatField(example=2_380.0)
    overdue = FloatField(example=119.0)
    open_invoices = IntegerField(example=12)
    overdue_invoices = IntegerField(example=1)
    months = ListField(child=MonthSummarySerializer(), help_text="The last twelve months, the earliest first.")
    taxes = ListField(child=TaxSummarySerializer(), help_text="Of the same months, the latest first.")


class FinanceSummarySerializer(Serializer):
    """What the workspace is owed now, and what it was paid in the last twelve months."""

    timezone = CharField(example="Europe/Berlin", help_text="The months are those of this time zone.")
    currencies = ListField(child=CurrencySummarySerializer())


@dataclass(frozen=True, slots=True)
class Money:
    """Writes amounts of one currency as numbers."""

    exponent: int

    def __call__(self, minor: int) -> float:
        return float(from_minor(minor, self.exponent))


def summary_of(
    owed: Iterable[Owed], paid: PaidByMonth, taxes: Iterable[TaxOfMonth], months: Months
) -> Iterator[dict[str, object]]:
    """Yield the figures of each currency."""
    owed_in = {one.currency: one for one in owed}
    for currency in sorted({*owed_in, *paid, *(one.currency for one in taxes)}):
        money = Money(decimals_of(currency))
        own = owed_in.get(currency)
        yield {
            "currency": currency,
            "owed": money(own.owed if own else 0),
            "overdue": money(own.overdue if own else 0),
            "open_invoices": own.invoices if own else 0,
            "overdue_invoices": own.overdue_invoices if own else 0,
            "months": [_month(day, paid.get(currency, {}).get(day, MonthPaid()), money) for day in months.days],
            "taxes": [_tax(one, money) for one in taxes if one.currency == currency],
        }


def _month(day: date, found: MonthPaid, money: Money) -> dict[str, object]:
    amounts = {"paid": money(found.paid), "returned": money(found.returned), "fees": money(found.fees)}
    return {"month": f"{day:%Y-%m}", **amounts}


def _tax(found: TaxOfMonth, money: Money) -> dict[str, object]:
    return {
        "month": f"{found.month:%Y-%m}",
        "name": found.name,
        "percent": float(found.percent),
        "reverse_charge": found.reverse_charge,
        "net": money(found.base),
        "tax": money(found.tax),
    }


class FinanceSummaryViewSet(WorkspaceViewSet):
    """What is owed, what was paid, and the taxes."""

    @operation(
        operation_id="readFinanceSummary",
        summary="Read what is owed, overdue and paid, and the taxes, by currency",
        answer=object_response(FinanceSummarySerializer),
    )
    def retrieve(self, request: Request) -> HttpResponse:
        now, workspace = database_now(), self.workspace
        months = Months.until(now, zone=ZoneInfo(workspace.timezone))
        owed = owed_by_currency(Invoice.objects.of(workspace), now=now)
        paid, taxes = paid_by_month(workspace, months), taxes_by_month(workspace, months)
        found = {"timezone": workspace.timezone, "currencies": list(summary_of(owed, paid, taxes, months))}
        return self.answer(FinanceSummarySerializer(found))


urlpatterns = [path("finance/summary", FinanceSummaryViewSet.as_view({"get": "retrieve"}), name="finance-summary")]
