"""Pages about payments: their list, recording one by hand, and refunding one; and the provider's payouts."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.forms import LineField, LocalDecimalField
from agency.pages.pagination import with_id
from agency.pages.periods import DAYS, DAYS_AHEAD, YEARS, days_asked
from agency.pages.registry import StrOrPromise
from agency.pages.tables import Column, Filter, ListPage, Table
from config.api.requests import is_storable
from config.db import database_now
from workspaces.catalogue.dashboard.forms import Link, ObjectFormView
from workspaces.finance.dashboard.exports import CSV
from workspaces.finance.dashboard.invoice_forms import LONGEST_SEARCH
from workspaces.finance.dashboard.invoices import ONE, InvoiceDetail, end_of_day
from workspaces.finance.models import Invoice, Payment, Payout, PayoutTransaction
from workspaces.finance.models.payments import LONGEST_NOTE
from workspaces.finance.services.accounts import payment_account_of
from workspaces.finance.services.amounts import to_minor
from workspaces.finance.services.exports import exported_payout
from workspaces.finance.services.payments import BY_HAND, PaymentNotFound, by_hand, record_payment
from workspaces.finance.services.payouts import PayoutNotFound
from workspaces.finance.services.refunds import refund_payment
from workspaces.finance.services.reports import start_of_day
from workspaces.subaccounts.dashboard.base import DashboardView
from workspaces.subaccounts.services import record_workspace_activity
from workspaces.subaccounts.services.money import from_minor

LIST: Final = "app:payments"
AMOUNT_DIGITS: Final = 15
Method = Payment.Method


class Payments(ListPage, DashboardView):
    """All payments, the last received first, or those that match the filters."""

    nav = LIST
    table = Table(
        caption=gettext_lazy("Payments"),
        columns=(
            Column(name="received", label=gettext_lazy("Received"), order=("received_at", "id"), descends_first=True),
            Column(name="invoice", label=gettext_lazy("Invoice")),
            Column(name="method", label=gettext_lazy("Method")),
            Column(name="amount", label=gettext_lazy("Amount"), is_number=True),
            Column(name="returned", label=gettext_lazy("Refunded"), is_number=True),
        ),
        filters=(
            Filter(name="search", label=gettext_lazy("Search"), placeholder=gettext_lazy("Number of the invoice")),
            Filter(name="method", label=gettext_lazy("Method"), is_choice=True, choices=Method.choices),
            DAYS,
            Filter(name="from", label=gettext_lazy("From"), is_date=True),
            Filter(name="to", label=gettext_lazy("Until"), is_date=True),
        ),
        sort="-received",
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        state, zone = self.read_table(), ZoneInfo(self.workspace.timezone)
        rows = self._found(state.values, zone).select_related("invoice__contact").prefetch_related("refunds")
        return self.list_page("finance/payments.html", state.fetch(rows), zone=zone)

    def _found(self, asked: Mapping[str, str], zone: ZoneInfo) -> "QuerySet[Payment]":
        rows = Payment.objects.filter(workspace=self.workspace)
        rows = rows.filter(method=asked["method"]) if asked["method"] in Method.values else rows
        days = days_asked(asked, timezone.now().astimezone(zone).date())
        rows = rows.filter(received_at__gte=start_of_day(days.first, zone)) if days.first else rows
        rows = rows.filter(received_at__lt=end_of_day(days.last, zone)) if days.last else rows
        search = asked["search"][:LONGEST_SEARCH]
        if search:
            rows = rows.filter(invoice__number__icontains=search) if is_storable(search) else rows.none()
        return rows


class AmountField(LocalDecimalField):
    """An amount above zero, with the decimals of its currency."""

    def __init__(self, currency: str, exponent: int, **options: Any) -> None:
        label = _("Amount in %(currency)s") % {"currency": currency}
        least = Decimal(1).scaleb(-exponent)
        super().__init__(label=label, min_value=least, max_digits=AMOUNT_DIGITS, decimal_places=exponent, **options)


class PaymentForm(forms.Form):
    """A payment that arrived: its amount, method, day and note."""

    def __init__(
        self, data: Mapping[str, object] | None = None, *, invoice: Invoice, now: datetime, zone: ZoneInfo
    ) -> None:
        self._zone, self.now = zone, now
        today = now.astimezone(zone).date()
        owed = from_minor(max(invoice.balance, 0), invoice.exponent)
        super().__init__(data, initial={"amount": owed, "received_on": today, "method": Method.BANK_TRANSFER})
        self.fields |= {
            "amount": AmountField(invoice.currency, invoice.exponent),
            "method": forms.ChoiceField(label=_("Method"), choices=[(one.value, one.label) for one in BY_HAND]),
            "received_on": forms.DateField(
                label=_("Received on"), widget=forms.DateInput({"type": "date"}, format="%Y-%m-%d")
            ),
            "note": LineField(label=_("Note"), required=False, max_length=LONGEST_NOTE),
        }

    @property
    def received_at(self) -> datetime:
        """The moment of the payment: now if it came today, else the beginning of its day."""
        day = self.cleaned_data["received_on"]
        return self.now if day == self.now.astimezone(self._zone).date() else start_of_day(day, self._zone)

    def clean_received_on(self) -> object:
        day = self.cleaned_data["received_on"]
        if day > self.now.astimezone(self._zone).date():
            raise forms.ValidationError(_("This date is in the future. Enter today or an earlier date."))
        if day.year not in YEARS:
            raise forms.ValidationError(_("Enter a date after 1999."))
        return day


class PaymentNew(InvoiceDetail, ObjectFormView[PaymentForm]):
    """Records a payment that arrived outside the payment provider."""

    creates = True
    form_page = "app:payment-new"

    def prepare(self, request: HttpRequest, *args: object, **ids: Any) -> None:
        self.close_payment_page(ids["uuid"])

    def heading(self) -> str:
        return _("Record a payment of %(number)s") % {"number": self.title}

    def submit(self) -> str:
        return _("Record payment")

    def context(self) -> dict[str, object]:
        text = _("It is subtracted from what is owed. When nothing is owed any more, the invoice is paid.")
        return {**super().context(), "text": text}

    def make_form(self, data: Mapping[str, object] | None = None) -> PaymentForm:
        zone = ZoneInfo(self.workspace.timezone)
        return PaymentForm(data, invoice=self.invoice, now=database_now(), zone=zone)

    def save(self, form: PaymentForm) -> HttpResponse:
        typed = form.cleaned_data
        record_payment(
            invoice=self.invoice,
            amount=to_minor(typed["amount"], self.invoice.exponent),
            method=typed["method"],
            received_at=form.received_at,
            note=typed["note"],
            now=form.now,
            by=self.by,
        )
        return self.back(_("The payment was recorded."))


def ways_back(payment: Payment) -> list[tuple[str, StrOrPromise]]:
    """Return how a payment can go back: as it came, or by hand."""
    methods = dict.fromkeys([Method(payment.method), *BY_HAND])
    return [(method.value, method.label) for method in methods]


class RefundForm(forms.Form):
    """How much of a payment goes back, how, and why."""

    def __init__(self, data: Mapping[str, object] | None = None, *, payment: Payment) -> None:
        exponent = payment.invoice.exponent
        super().__init__(data, initial={"amount": from_minor(payment.left, exponent), "method": payment.method})
        self.fields |= {
            "amount": AmountField(payment.currency, exponent),
            "method": forms.ChoiceField(label=_("Refund method"), choices=ways_back(payment)),
            "reason": LineField(label=_("Reason"), required=False, max_length=LONGEST_NOTE),
        }


class PaymentRefund(ObjectFormView[RefundForm]):
    """Refunds some or all of a payment, through the provider if it came through one."""

    nav = LIST
    creates = True
    form_page = "app:payment-refund"
    payment: Payment

    def find(self, **ids: UUID | None) -> None:
        rows = Payment.objects.filter(workspace=self.workspace).select_related("invoice").prefetch_related("refunds")
        found = with_id(rows, ids["uuid"])
        if found is None:
            raise PaymentNotFound
        found.workspace = found.invoice.workspace = self.workspace
        self.payment = found

    def heading(self) -> str:
        return _("Refund a payment of %(number)s") % {"number": self.payment.invoice.number}

    def submit(self) -> str:
        return _("Refund")

    def crumbs(self) -> list[Link]:
        invoice = self.payment.invoice
        return [(_("Payments"), reverse(LIST)), (invoice.number or "", reverse(ONE, args=[invoice.uuid]))]

    def context(self) -> dict[str, object]:
        text = _("If you choose cash or a transfer, send the money back yourself: this only records that you did.")
        if not by_hand(self.payment.method):
            text = f"{text} {_('The payment provider sends money back within some days.')}"
        return {**super().context(), "text": text, "danger": True}

    def make_form(self, data: Mapping[str, object] | None = None) -> RefundForm:
        return RefundForm(data, payment=self.payment)

    def save(self, form: RefundForm) -> HttpResponse:
        amount = to_minor(form.cleaned_data["amount"], self.payment.invoice.exponent)
        more = {name: form.cleaned_data[name] for name in ("method", "reason")}
        refund_payment(payment=self.payment, amount=amount, now=timezone.now(), by=self.by, **more)
        return self.done(_("The refund was recorded."), ONE, self.payment.invoice.uuid)


# Payouts -------------------------------------------------------------------------------------------


PAYOUTS: Final = "app:payouts"


class Payouts(ListPage, DashboardView):
    """All payouts, the last arrival first, or those that match the filters."""

    nav = PAYOUTS
    table = Table(
        caption=gettext_lazy("Payouts"),
        columns=(
            Column(name="arrival", label=gettext_lazy("Arrival"), order=("arrives_on", "id"), descends_first=True),
            Column(name="status", label=gettext_lazy("State")),
            Column(name="fees", label=gettext_lazy("Fees"), is_number=True),
            Column(name="amount", label=gettext_lazy("Amount"), is_number=True),
        ),
        filters=(
            Filter(name="status", label=gettext_lazy("State"), is_choice=True, choices=Payout.Status.choices),
            DAYS_AHEAD,
            Filter(name="from", label=gettext_lazy("From"), is_date=True),
            Filter(name="to", label=gettext_lazy("Until"), is_date=True),
        ),
        sort="-arrival",
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        state = self.read_table()
        state.fetch(self._found(state.values))
        return self.list_page("finance/payouts/list.html", state, account=payment_account_of(self.workspace))

    def _found(self, asked: Mapping[str, str]) -> "QuerySet[Payout]":
        rows = Payout.objects.of(self.workspace)
        rows = rows.filter(status=asked["status"]) if asked["status"] in Payout.Status.values else rows
        days = days_asked(asked, timezone.now().astimezone(ZoneInfo(self.workspace.timezone)).date())
        rows = rows.filter(arrives_on__gte=days.first) if days.first else rows
        return rows.filter(arrives_on__lte=days.last) if days.last else rows


class PayoutView(DashboardView):
    """Something about one payout of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = PAYOUTS
    payout: Payout

    def find(self, **ids: UUID | None) -> None:
        found = with_id(Payout.objects.of(self.workspace), ids["uuid"])
        if found is None:
            raise PayoutNotFound
        self.payout = found


class PayoutPage(ListPage, PayoutView):
    """One payout: its facts, and the payments, refunds and fees that it consists of."""

    table = Table(
        caption=gettext_lazy("What the payout consists of"),
        columns=(
            Column(name="kind", label=gettext_lazy("Kind")),
            Column(name="created", label=gettext_lazy("Date")),
            Column(name="invoice", label=gettext_lazy("Invoice")),
            Column(name="amount", label=gettext_lazy("Amount"), is_number=True),
            Column(name="fee", label=gettext_lazy("Fee"), is_number=True),
            Column(name="net", label=gettext_lazy("Net"), is_number=True),
        ),
    )

    def get(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        self.find(**ids)
        state = self.read_table()
        rows = PayoutTransaction.objects.filter(payout=self.payout).select_related("payment__invoice")
        state.fetch(rows.order_by("id"))
        crumbs: list[Link] = [(_("Payouts"), reverse(PAYOUTS))]
        zone = ZoneInfo(self.workspace.timezone)
        return self.list_page("finance/payouts/one.html", state, payout=self.payout, crumbs=crumbs, zone=zone)


class PayoutExport(PayoutView):
    """Answers with what a payout consists of as a CSV file. Members who may only read get none."""

    writers_only = True

    def get(self, request: HttpRequest, **ids: UUID | None) -> StreamingHttpResponse:
        self.find(**ids)
        reader = ZoneInfo(self.user.time_zone or self.workspace.timezone)
        lines = exported_payout(self.payout, reader=reader)
        day = self.payout.arrives_on.isoformat()
        details = {"file": "payout", "first": day, "last": day}
        record_workspace_activity(workspace=self.workspace, action="finance.exported", by=self.by, details=details)
        answer = StreamingHttpResponse((line.encode() for line in lines), content_type=CSV)
        answer["Content-Disposition"] = f'attachment; filename="payout_{day}.csv"'
        return answer
