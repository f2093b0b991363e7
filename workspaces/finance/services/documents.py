"""The PDF of an issued invoice: made by Typst when somebody first needs it, then kept as it is."""

import hashlib
import json
import re
from datetime import date
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, Final

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from config.errors import Conflict
from config.formats import format_day, format_number, format_percent
from workspaces.finance.models import Invoice, InvoiceDocument, InvoiceLine, InvoiceTax
from workspaces.finance.models.parties import Party
from workspaces.finance.services.details import local_date
from workspaces.subaccounts.services.money import format_money

# Typst breaks no word of itself, and would draw a long one over the columns beside it.
BREAK: Final = "\N{ZERO WIDTH SPACE}"
LONG_WORD: Final = re.compile(r"[^\W_]{14}")
TEMPLATE: Final = Path(settings.BASE_DIR, "templates", "finance/invoices/document.typ")


class DraftHasNoDocument(Conflict):
    message = "A draft has no PDF. Issue it first."


def invoice_pdf(invoice: Invoice) -> bytes:
    """Return the PDF of an issued invoice. Call it outside any transaction. Raises `DraftHasNoDocument`.

    Two who need it first at the same moment both make it, and both return the one that was kept.
    """
    kept = _kept(invoice)
    if kept is None:
        found = Invoice.objects.with_parts().select_related("workspace__agency").get(pk=invoice.pk)
        if found.is_draft:
            raise DraftHasNoDocument
        content = _make(found)
        document = InvoiceDocument(invoice=found, content=content, sha256=hashlib.sha256(content).hexdigest())
        InvoiceDocument.objects.bulk_create([document], ignore_conflicts=True)
        kept = _kept(invoice)
    return kept or b""


def filename_of(invoice: Invoice) -> str:
    """Return a name for the file that every system takes: the number, or what is left of it."""
    number = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in invoice.number or "")
    return f"{number.strip('-') or invoice.uuid}.pdf"


def _kept(invoice: Invoice) -> bytes | None:
    found = InvoiceDocument.objects.filter(invoice=invoice).values_list("content", flat=True).first()
    return None if found is None else bytes(found)


@cache
def load_typst() -> tuple[ModuleType, object]:
    """Import Typst and read its fonts and the host's. Only processes that make PDFs pay for it."""
    typst = import_module("typst")
    return typst, typst.Fonts(include_system_fonts=True)


def _make(invoice: Invoice) -> bytes:
    """Typeset an invoice in its language. The program can read no file, and all texts are data."""
    typst, fonts = load_typst()
    with translation.override(invoice.language or None):
        texts = LONG_WORD.sub(r"\g<0>" + BREAK, json.dumps(_texts_of(invoice), ensure_ascii=False))
    with TemporaryDirectory(prefix="invoice-") as empty:
        made: bytes = typst.compile(
            TEMPLATE.read_bytes(), root=empty, font_paths=fonts, sys_inputs={"invoice": texts}, format="pdf"
        )
    return made


def _texts_of(invoice: Invoice) -> dict[str, object]:
    """Return all texts of the document by their place in the template."""
    is_invoice = invoice.kind == Invoice.Kind.INVOICE
    return {
        "language": (translation.get_language() or "en").split("-")[0],
        "title": _("Invoice") if is_invoice else _("Credit note"),
        "number": invoice.number,
        "seller": _party(invoice.sold_by),
        "buyer": _party(invoice.billed_to),
        "labels": {"seller": _("From"), "buyer": _("To"), "total": _("Total")},
        "facts": _facts(invoice),
        "columns": [_("Description"), _("Quantity"), _("Price"), _("Tax"), _("Amount")],
        "lines": [_line(invoice, line) for line in invoice.lines.all()],
        "sums": [[_("Net"), _money(invoice, invoice.net)], *(_tax(invoice, tax) for tax in invoice.taxes.all())],
        "total": _money(invoice, invoice.total),
        "paragraphs": _paragraphs(invoice),
        "page": _("Page {page} of {pages}"),
    }


def _party(party: Party) -> list[str]:
    """Return the lines of a party; the first is the name."""
    lines = [party.name, *party.address.splitlines()]
    if party.vat_id:
        lines.append(_("VAT ID: %(id)s") % {"id": party.vat_id})
    if party.tax_number:
        lines.append(_("Tax number: %(number)s") % {"number": party.tax_number})
    return [*lines, *filter(None, (party.email, party.phone))]


def _facts(invoice: Invoice) -> list[list[str]]:
    facts = [[_("Date of issue"), _local(invoice, invoice.issued_at)]]
    if invoice.supplied_on:
        facts.append([_("Date of supply"), _written(invoice.supplied_on)])
    if invoice.due_at and invoice.kind == Invoice.Kind.INVOICE:
        facts.append([_("Due date"), _local(invoice, invoice.due_at)])
    if invoice.credits is not None:
        corrected = {"number": invoice.credits.number, "date": _local(invoice, invoice.credits.issued_at)}
        facts.append([_("Corrects"), _("invoice %(number)s of %(date)s") % corrected])
    return facts


def _line(invoice: Invoice, line: InvoiceLine) -> list[str]:
    rate = format_percent(line.tax_percent)
    return [
        line.description,
        format_number(line.quantity),
        _money(invoice, line.unit_price),
        _("%(rate)s included") % {"rate": rate} if line.tax_inclusive else rate,
        _money(invoice, line.amount),
    ]


def _tax(invoice: Invoice, tax: InvoiceTax) -> list[str]:
    """Return one rate: its name, its percentage, what it is computed from, and the tax."""
    named = {"name": tax.name or _("Tax"), "rate": format_percent(tax.percent), "base": _money(invoice, tax.base)}
    return [_("%(name)s %(rate)s of %(base)s") % named, _money(invoice, tax.tax)]


def _paragraphs(invoice: Invoice) -> list[str]:
    words = _("Reverse charge") if invoice.reverse_charge else ""
    pays = invoice.sold_by.payment_details if invoice.kind == Invoice.Kind.INVOICE else ""
    return [text for text in (words, invoice.note, pays, invoice.sold_by.footer) if text]


def _money(invoice: Invoice, minor: int) -> str:
    return format_money(minor, invoice.currency)


def _local(invoice: Invoice, moment: Any) -> str:
    return _written(local_date(invoice.workspace, moment))


def _written(day: date) -> str:
    return format_day(day, "yMMMMd")
