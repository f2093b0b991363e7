"""Pages about invoices: their list, one invoice, and the form of a draft."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.invalid_forms import mark_form_redisplayed
from agency.pages.pagination import with_id
from agency.pages.periods import DAYS, days_asked
from agency.pages.registry import StrOrPromise
from agency.pages.tables import Column, Filter, Table
from config.api.requests import is_storable, parse_uuid
from config.db import database_now, like_pattern, name_key
from config.formats import format_typed
from workspaces.catalogue.dashboard.forms import Link
from workspaces.contacts.dashboard.finding import ListByContact
from workspaces.contacts.models import Contact
from workspaces.finance.dashboard.invoice_forms import (
    ADD,
    ADD_PRODUCT,
    EMPTY_LINE,
    FIND,
    LONGEST_SEARCH,
    REMOVE,
    UPDATE,
    InvoiceForm,
    TypedInvoice,
    search_products,
    typed_date,
)
from workspaces.finance.models import Invoice, InvoiceLine, Payment, TaxRate
from workspaces.finance.services.checkouts import end_checkouts
from workspaces.finance.services.details import END_OF_DAY
from workspaces.finance.services.invoices import (
    InvoiceIsBeingPaid,
    InvoiceNotDraft,
    InvoiceNotFound,
    change_invoice,
    create_invoice,
    pay_url,
)
from workspaces.finance.services.reports import start_of_day, totals_of
from workspaces.finance.services.taxes import tax_rates_to_choose
from workspaces.subaccounts.dashboard.base import DashboardForm, DashboardView
from workspaces.subaccounts.services.money import from_minor

LIST: Final = "app:invoices"
ONE: Final = "app:invoice"
OVERDUE: Final = "overdue"
Status, Kind = Invoice.Status, Invoice.Kind
STATUSES: Final = (
    (Status.DRAFT.value, Status.DRAFT.label),
    (Status.OPEN.value, Status.OPEN.label),
    (OVERDUE, gettext_lazy("Overdue")),
    (Status.PAID.value, Status.PAID.label),
    (Status.VOID.value, Status.VOID.label),
)
MOST_CONTACTS: Final = 1_000


def end_of_day(day: date, zone: ZoneInfo) -> datetime:
    """Return the first moment after a day in the time zone."""
    return start_of_day(day + timedelta(days=1), zone)


class Invoices(ListByContact):
    """All invoices and credit notes, newest first, or those that match the filters, with their totals."""

    nav = LIST
    table = Table(
        caption=gettext_lazy("Invoices"),
        columns=(
            Column(name="number", label=gettext_lazy("Number")),
            Column(name="contact", label=gettext_lazy("Contact")),
            Column(name="created", label=gettext_lazy("Made"), order=("created_at", "id"), descends_first=True),
            Column(name="issued", label=gettext_lazy("Issued"), order=("issued_at", "id"), descends_first=True),
            Column(name="due", label=gettext_lazy("Due"), order=("due_at", "id")),
            Column(name="total", label=gettext_lazy("Total"), is_number=True),
            Column(name="status", label=gettext_lazy("State")),
        ),
        filters=(
            Filter(
                name="search", label=gettext_lazy("Search"), placeholder=gettext_lazy("Number, or name of the contact")
            ),
            Filter(name="status", label=gettext_lazy("State"), is_choice=True, choices=STATUSES),
            replace(DAYS, label=gettext_lazy("Issued")),
            Filter(name="from", label=gettext_lazy("Issued from"), is_date=True),
            Filter(name="to", label=gettext_lazy("Issued until"), is_date=True),
        ),
        sort="-created",
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        now, state = database_now(), self.read_table()
        rows = self._found(state.values, now)
        state.fetch(rows.select_related("contact"))
        totals = totals_of(rows) if state.rows else []
        zone = ZoneInfo(self.workspace.timezone)
        return self.list_page(
            "finance/invoices/list.html", state, now=now, zone=zone, totals=totals, contact=self.contact
        )

    def _found(self, asked: Mapping[str, str], now: datetime) -> "QuerySet[Invoice]":
        zone = ZoneInfo(self.workspace.timezone)
        rows = with_status(Invoice.objects.of(self.workspace), asked["status"], now)
        days = days_asked(asked, now.astimezone(zone).date())
        rows = rows.filter(contact=self.contact) if self.contact else rows
        rows = rows.filter(issued_at__gte=start_of_day(days.first, zone)) if days.first else rows
        rows = rows.filter(issued_at__lt=end_of_day(days.last, zone)) if days.last else rows
        return self._matching(rows, asked["search"][:LONGEST_SEARCH])

    def _matching(self, rows: "QuerySet[Invoice]", search: str) -> "QuerySet[Invoice]":
        """Keep the invoices whose number contains the search, and those of contacts who match it."""
        if not search:
            return rows
        if not is_storable(search):
            return rows.none()
        people = Contact.objects.of(self.workspace).filter(search_key__like=like_pattern(name_key(search)))
        known = list(people.newest_first().values_list("pk", flat=True)[:MOST_CONTACTS])
        return rows.filter(Q(number__icontains=search) | Q(contact__in=known))


def with_status(rows: "QuerySet[Invoice]", status: str, now: datetime) -> "QuerySet[Invoice]":
    """Keep the invoices of a state. Overdue ones are open, and their due day is over."""
    if status == OVERDUE:
        return rows.filter(kind=Kind.INVOICE, status=Status.OPEN, due_at__lt=now)
    return rows.filter(status=status) if status in Status.values else rows


class InvoiceFormView(DashboardForm[InvoiceForm]):
    """The form of a draft. Every button but the one that saves shows it again with what was typed."""

    nav = LIST
    template_name = "finance/invoices/form.html"
    has_found = False

    def only_looks(self, request: HttpRequest) -> bool:
        return bool(request.POST.get("do"))

    def post(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        if not self.only_looks(request):
            return super().post(request, **ids)
        self.find(**ids)
        mark_form_redisplayed(request)
        typed = TypedInvoice.sent(request.POST.dict())
        typed.apply(request.POST["do"], self.workspace)
        form = self.form_of(typed, bound=False)
        self.has_found = request.POST["do"] == FIND and form.goes_on_with_contact()
        return self.show(form)

    def make_form(self, data: Any = None) -> InvoiceForm:
        if data is None:
            return self.form_of(self.typed_before(), bound=False)
        return self.form_of(TypedInvoice.sent(data.dict()), bound=True)

    def form_of(self, typed: TypedInvoice, *, bound: bool) -> InvoiceForm:
        return InvoiceForm(typed, workspace=self.workspace, rates=self.rates, bound=bound)

    def typed_before(self) -> TypedInvoice:
        """Return what stands in the form at first. Each page overrides this."""
        raise NotImplementedError

    @cached_property
    def rates(self) -> list[TaxRate]:
        return tax_rates_to_choose(self.workspace)

    def values_of(self, form: InvoiceForm) -> dict[str, Any]:
        """Return the form's values for the service."""
        typed, zone = form.cleaned_data, ZoneInfo(self.workspace.timezone)
        return {
            "contact": form.chosen_contact,
            "lines": form.line_inputs(),
            "due_at": datetime.combine(typed["due_on"], END_OF_DAY, tzinfo=zone) if typed["due_on"] else None,
            "supplied_on": typed["supplied_on"],
            "note": typed["note"],
            "reverse_charge": typed["reverse_charge"],
        }

    def context(self) -> dict[str, object]:
        search = self.request.POST.get("find_product", "")
        # What was found keeps the focus, so the heading must not take it.
        going_on = {"is_answer": False} if self.has_found else {}
        return going_on | {
            "products": search_products(self.workspace, search),
            "product_search": search,
            "buttons": {"add": ADD, "remove": REMOVE, "product": ADD_PRODUCT, "find": FIND, "update": UPDATE},
        }


class InvoiceNew(InvoiceFormView):
    """Makes a draft, for the contact that the address names if it names one."""

    creates = True

    def typed_before(self) -> TypedInvoice:
        contact = parse_uuid(self.request.GET.get("contact", ""))
        usual = str(self.rates[0].uuid) if len(self.rates) == 1 else ""
        return TypedInvoice({"contact": str(contact) if contact else ""}, [{**EMPTY_LINE, "tax_rate": usual}])

    def save(self, form: InvoiceForm) -> HttpResponse:
        made = create_invoice(workspace=self.workspace, now=timezone.now(), by=self.by, **self.values_of(form))
        return self.done(_("The draft was saved. Check it, then issue it."), ONE, made.uuid)


class InvoiceDetail(DashboardView):
    """A page about one invoice of the workspace. Malformed, unknown and foreign ids get the same answer."""

    nav = LIST
    form_page = ONE
    invoice: Invoice

    def find(self, **ids: UUID | None) -> None:
        found = with_id(Invoice.objects.of(self.workspace).select_related("contact", "credits"), ids["uuid"])
        if found is None:
            raise InvoiceNotFound
        found.workspace = self.workspace
        self.invoice = found

    def close_payment_page(self, uuid: UUID | None) -> None:
        """Close the open payment page at the provider, so that nobody pays what is about to change."""
        self.find(uuid=uuid)
        end_checkouts(invoice=self.invoice, now=timezone.now())

    @property
    def title(self) -> str:
        return title_of(self.invoice)

    def crumbs(self) -> list[Link]:
        return [(_("Invoices"), reverse(LIST)), (self.title, reverse(ONE, args=[self.invoice.uuid]))]

    def back(self, message: str) -> HttpResponse:
        return self.done(message, ONE, self.invoice.uuid)


def title_of(invoice: Invoice) -> str:
    """Name an invoice by its number; a draft has none."""
    return invoice.number or _("Draft")


class InvoiceEdit(InvoiceDetail, InvoiceFormView):
    form_page = "app:invoice-edit"

    def find(self, **ids: UUID | None) -> None:
        super().find(**ids)
        if self.invoice.status != Status.DRAFT:
            raise InvoiceNotDraft
        if self.invoice.is_prepayment:
            raise InvoiceIsBeingPaid

    def typed_before(self) -> TypedInvoice:
        invoice, zone = self.invoice, ZoneInfo(self.workspace.timezone)
        head = {
            "contact": str(invoice.contact.uuid) if invoice.contact else "",
            "due_on": typed_date(invoice.due_at.astimezone(zone).date() if invoice.due_at else None),
            "supplied_on": typed_date(invoice.supplied_on),
            "note": invoice.note,
            "reverse_charge": "on" if invoice.reverse_charge else "",
        }
        lines = invoice.lines.select_related("tax_rate", "product").order_by("position")
        return TypedInvoice(head, [_typed_line(line, invoice.exponent) for line in lines])

    def save(self, form: InvoiceForm) -> HttpResponse:
        change_invoice(invoice=self.invoice, now=timezone.now(), by=self.by, **self.values_of(form))
        return self.back(_("The draft was saved."))

    def context(self) -> dict[str, object]:
        return {**super().context(), "invoice": self.invoice, "title": self.title}


def _typed_line(line: InvoiceLine, exponent: int) -> dict[str, str]:
    return {
        "description": line.description,
        "quantity": format_typed(line.quantity.normalize()),
        "unit_price": format_typed(from_minor(line.unit_price, exponent)),
        "tax_rate": str(line.tax_rate.uuid) if line.tax_rate else "",
        "product": str(line.product.uuid) if line.product else "",
    }


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """Something that happened to an invoice, and when."""

    at: datetime
    text: StrOrPromise


def history_of(invoice: Invoice, payments: list[Payment], notes: list[Invoice]) -> list[HistoryEntry]:
    """Return what happened to an invoice, the newest first."""
    times: list[tuple[datetime | None, StrOrPromise]] = [
        (invoice.created_at, _("Draft created")),
        (invoice.issued_at, _("Issued")),
        (invoice.sent_at, _("Last sent to the contact")),
        (invoice.overdue_at, _("Became overdue")),
        (invoice.paid_at, _("Paid in full")),
        (invoice.voided_at, _("Voided")),
        *((one.received_at, _("Payment received")) for one in payments),
        *((back.ended_at, _("Refund succeeded")) for one in payments for back in one.refunds.all()),
        *((one.issued_at, _("Credit note %(number)s issued") % {"number": one.number}) for one in notes),
    ]
    known = [HistoryEntry(at, text) for at, text in times if at]
    return sorted(known, key=lambda entry: entry.at)[::-1]  # of the same moment the later step comes first


class InvoicePage(InvoiceDetail):
    """One invoice with its lines, taxes, payments, refunds and history, and what can be done with it now."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        invoice, now = self.invoice, database_now()
        payments = list(invoice.payments.prefetch_related("refunds", "disputes").order_by("id"))
        notes = list(invoice.credit_notes.order_by("id"))
        return self.page(
            "finance/invoices/one.html",
            invoice=invoice,
            title=self.title,
            lines=list(invoice.lines.order_by("position")),
            taxes=list(invoice.taxes.order_by("-percent", "name")),
            payments=payments,
            credit_notes=notes,
            history=history_of(invoice, payments, notes),
            pay_url=pay_url(invoice) if invoice.kind == Kind.INVOICE else None,
            now=now,
            can=set(possible_steps(invoice)),
            zone=ZoneInfo(self.workspace.timezone),
        )


def possible_steps(invoice: Invoice) -> Iterator[str]:
    """Yield what the state of an invoice allows, by the names of the pages."""
    if invoice.status == Status.DRAFT:
        yield from () if invoice.is_prepayment else ("edit", "delete", "issue")
    elif invoice.status != Status.VOID:
        yield "send"
        if invoice.kind == Kind.INVOICE:
            yield from _steps_of_issued(invoice)


def _steps_of_issued(invoice: Invoice) -> Iterator[str]:
    if invoice.status == Status.OPEN:
        yield "pay"
    if invoice.paid == 0:
        yield "void"
    if invoice.credited < invoice.total:
        yield "credit"
