"""What people do with an invoice: each page asks first and says what will happen. Also credit notes and the PDF."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.registry import StrOrPromise
from workspaces.catalogue.dashboard.forms import ConfirmView, ObjectFormView
from workspaces.finance.dashboard.invoice_forms import CreditForm
from workspaces.finance.dashboard.invoices import LIST, ONE, InvoiceDetail
from workspaces.finance.models import Invoice, InvoiceLine
from workspaces.finance.services.documents import invoice_pdf
from workspaces.finance.services.invoices import (
    LineInput,
    credit_invoice,
    delete_invoice,
    issue_invoice,
    send_invoice,
    void_invoice,
)
from workspaces.subaccounts.services.money import format_money, from_minor


class InvoiceStep(InvoiceDetail, ConfirmView):
    """Asks before a step, and says what it does."""

    label: StrOrPromise

    def heading(self) -> str:
        return f"{self.label}: {self.title}"

    def submit(self) -> str:
        return str(self.label)


class InvoiceDelete(InvoiceStep):
    label = gettext_lazy("Delete")

    def text(self) -> str:
        return _("The draft is deleted. It has no number yet, so your numbers have no gap.")

    def save(self, form: object) -> HttpResponse:
        delete_invoice(invoice=self.invoice, by=self.by)
        return self.done(_("The draft was deleted."), LIST)


class InvoiceIssue(InvoiceStep):
    label = gettext_lazy("Issue")

    def text(self) -> str:
        whose = _("For %(contact)s: %(total)s.") % {
            "contact": self.invoice.contact or "—",
            "total": format_money(self.invoice.total, self.invoice.currency),
        }
        what = _(
            "The invoice gets the next number and today's date. After that you cannot change it, "
            "only correct it with a credit note. The contact does not get it yet: send it next."
        )
        return f"{whose} {what}"

    def context(self) -> dict[str, object]:
        return {**super().context(), "danger": False}

    def save(self, form: object) -> HttpResponse:
        issued = issue_invoice(invoice=self.invoice, now=timezone.now(), by=self.by)
        return self.back(_("%(number)s was issued.") % {"number": issued.number})


class InvoiceSend(InvoiceStep):
    label = gettext_lazy("Send")

    def text(self) -> str:
        contact = self.invoice.contact
        address = contact.email if contact else None
        if not address:
            return _("The contact has no e-mail address. Add one to the contact first.")
        return _("%(address)s gets an e-mail with the invoice as a PDF file, and a link to pay it.") % {
            "address": address
        }

    def context(self) -> dict[str, object]:
        return {**super().context(), "danger": False}

    def save(self, form: object) -> HttpResponse:
        send_invoice(invoice=self.invoice, now=timezone.now(), by=self.by)
        return self.back(_("The e-mail is on its way."))


class InvoiceVoid(InvoiceStep):
    label = gettext_lazy("Void")

    def text(self) -> str:
        return _("A credit note for the full amount is issued, and nothing is owed any more. This cannot be undone.")

    def prepare(self, request: HttpRequest, *args: object, **ids: Any) -> None:
        self.close_payment_page(ids["uuid"])

    def save(self, form: object) -> HttpResponse:
        void_invoice(invoice=self.invoice, now=timezone.now(), by=self.by)
        return self.back(_("The invoice is void."))


class InvoiceCredit(InvoiceDetail, ObjectFormView[CreditForm]):
    """Issues a credit note over some or all of the lines."""

    creates = True
    form_page = "app:invoice-credit"
    template_name = "finance/invoices/credit.html"

    def prepare(self, request: HttpRequest, *args: object, **ids: Any) -> None:
        self.close_payment_page(ids["uuid"])

    def heading(self) -> str:
        return _("Credit %(number)s") % {"number": self.title}

    def submit(self) -> str:
        return _("Issue the credit note")

    @cached_property
    def lines(self) -> list[InvoiceLine]:
        return list(self.invoice.lines.select_related("tax_rate", "product").order_by("position"))

    def make_form(self, data: Mapping[str, object] | None = None) -> CreditForm:
        return CreditForm(data, lines=self.lines)

    def context(self) -> dict[str, object]:
        return {**super().context(), "invoice": self.invoice}

    def save(self, form: CreditForm) -> HttpResponse:
        credited = [
            LineInput(
                description=line.description,
                quantity=quantity,
                unit_price=from_minor(line.unit_price, self.invoice.exponent),
                tax_rate=line.tax_rate,
                product=line.product,
            )
            for line in self.lines
            if (quantity := form.cleaned_data[f"line-{line.position}"])
        ]
        lines = None if form.is_everything else credited
        note = credit_invoice(invoice=self.invoice, now=timezone.now(), by=self.by, lines=lines)
        return self.done(_("The credit note %(number)s was issued.") % {"number": note.number}, ONE, note.uuid)


class InvoicePdf(InvoiceDetail):
    """The PDF of an issued invoice. A draft has none."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        if self.invoice.status == Invoice.Status.DRAFT:
            return redirect(ONE, self.invoice.uuid)
        answer = HttpResponse(invoice_pdf(self.invoice), content_type="application/pdf")
        answer["Content-Disposition"] = f'inline; filename="{self.invoice.uuid}.pdf"'
        return answer
