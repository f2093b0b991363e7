"""Drafts, and what happens to invoices from their issue on: sent, voided, credited."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, Unpack

from django.conf import settings
from django.db import transaction

from agency.actors import Actor
from agency.services.activity import changes_to
from config.errors import Conflict, NotFound
from workspaces.catalogue.models import Product
from workspaces.catalogue.services import ProductNotFound
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactMergeHandler, ContactNotFound, ContactRemovalHandler
from workspaces.contacts.services.contacts import lock_contact
from workspaces.finance import events
from workspaces.finance.models import Checkout, Invoice, InvoiceLine, TaxRate
from workspaces.finance.models.invoices import QUANTITY_DECIMALS, QUANTITY_DIGITS
from workspaces.finance.services.amounts import (
    NO_TAX,
    AmountRefused,
    Totals,
    exponent_of,
    line_amount,
    to_minor,
    totals_of_lines,
    write_lines,
)
from workspaces.finance.services.credits import Credit, CreditRefused, partial_credit, whole_credit
from workspaces.finance.services.details import (
    InvoiceDetails,
    apply_details,
    check_complete,
    check_reverse_charge,
    columns_of,
    complete_details,
)
from workspaces.finance.services.numbering import take_number
from workspaces.finance.services.recording import record_invoice_activity, record_invoice_event, settle_invoice
from workspaces.finance.services.sending import queue_invoice_mail
from workspaces.finance.services.taxes import TaxRateNotFound
from workspaces.subaccounts.models import Workspace

Kind, Status = Invoice.Kind, Invoice.Status
LARGEST_QUANTITY: Final = Decimal(10) ** (QUANTITY_DIGITS - QUANTITY_DECIMALS)
LARGEST_PRICE: Final = 10**13
UNFINISHED: Final = (Checkout.Status.STARTING, Checkout.Status.OPEN, Checkout.Status.PROCESSING)


class InvoiceNotFound(NotFound):
    message = "Invoice not found."


class InvoiceNotDraft(Conflict):
    message = "This invoice was issued, so it stays as it is. Correct it by a credit note."


class InvoiceIsDraft(Conflict):
    message = "This invoice is a draft. Issue it first."


class InvoiceNotOpen(Conflict):
    message = "This is not possible for a void invoice or a credit note."


class InvoiceIsPaid(Conflict):
    message = "Something was paid for this invoice. Refund it first, or create a credit note."


class InvoiceIsBeingPaid(Conflict):
    message = "A payment of this invoice has begun. Wait until it has ended."


class NothingToCredit(Conflict):
    message = "Nothing is left of this invoice to credit."


@dataclass(frozen=True, slots=True)
class LineInput:
    """A line to be written. `unit_price` is in major units, and below zero for a discount."""

    description: str
    quantity: Decimal
    unit_price: Decimal
    tax_rate: TaxRate | None = None
    product: Product | None = None


class InvoiceChanges(InvoiceDetails, total=False):
    """The parts of a draft that can change. Parts left out stay; `lines` replaces all lines."""

    contact: Contact
    lines: Sequence[LineInput]


@transaction.atomic
def create_invoice(
    *,
    workspace: Workspace,
    contact: Contact,
    lines: Sequence[LineInput],
    now: datetime,
    by: Actor,
    **details: Unpack[InvoiceDetails],
) -> Invoice:
    """Create a draft. Raises `AmountRefused`, `ContactNotFound`, `CurrencyNotInvoiced`, `InvoiceRefused`."""
    # The workspace of an API key's caller holds only some of its columns.
    workspace = Workspace.objects.select_related("agency").get(pk=workspace.pk)
    invoice = Invoice(
        workspace=workspace,
        contact=_lock_own_contact(workspace, contact),
        currency=workspace.currency,
        exponent=exponent_of(workspace.currency),
        language=workspace.agency.language or settings.LANGUAGE_CODE,
        created_at=now,
        updated_at=now,
    )
    apply_details(invoice, details, now)
    rows = _rows_of(invoice, lines)
    totals = totals_of_lines(rows)
    check_reverse_charge(invoice, totals)
    invoice.save(force_insert=True)
    _save_lines(invoice, rows, totals)
    record_invoice_activity(invoice=invoice, what="created", by=by)
    return invoice


@transaction.atomic
def change_invoice(*, invoice: Invoice, now: datetime, by: Actor, **changes: Unpack[InvoiceChanges]) -> Invoice:
    """Change a draft. Raises what `create_invoice` raises, `InvoiceNotDraft`, and `InvoiceIsBeingPaid`."""
    contact = changes.pop("contact", None)
    lines = changes.pop("lines", None)
    found = _lock_own_contact(invoice.workspace, contact) if contact else None
    invoice = _lock_draft(invoice)
    made = {name: pair for name, pair in changes_to(invoice, columns_of(changes)).items() if pair[0] != pair[1]}
    if found is not None and found.pk != invoice.contact_id:
        made["contact"] = (invoice.contact_id, found.pk)
        invoice.contact = found
    apply_details(invoice, changes, now)
    invoice.updated_at = now
    invoice.save()
    if lines is not None:
        rows = _rows_of(invoice, lines)
        _save_lines(invoice, rows, totals_of_lines(rows))
        made["lines"] = (0, len(rows))
    if made:
        check_reverse_charge(invoice, totals_of_lines(list(invoice.lines.all())))
        record_invoice_activity(invoice=invoice, what="changed", by=by, changes=made)
    return invoice


@transaction.atomic
def delete_invoice(*, invoice: Invoice, by: Actor) -> None:
    """Delete a draft. Raises `InvoiceNotDraft`, and `InvoiceIsBeingPaid` for a prepayment."""
    delete_locked_draft(invoice=_lock_draft(invoice), by=by)


def delete_locked_draft(*, invoice: Invoice, by: Actor) -> None:
    """Delete a locked draft, and the checkouts in which nobody has paid it. Raises `InvoiceIsBeingPaid`."""
    _refuse_while_being_paid(invoice)
    record_invoice_activity(invoice=invoice, what="deleted", by=by)
    invoice.checkouts.all().delete()
    invoice.delete()


@transaction.atomic
def issue_invoice(*, invoice: Invoice, now: datetime, by: Actor) -> Invoice:
    """Give a draft its number. From then on it stays as it is.

    Raises `InvoiceNotDraft`, `InvoiceRefused`, and `InvoiceIsBeingPaid` for a prepayment.
    """
    invoice = _lock_draft(invoice)
    check_complete(invoice, now)
    return issue_locked_draft(invoice=invoice, now=now, by=by)


def issue_locked_draft(*, invoice: Invoice, now: datetime, by: Actor) -> Invoice:
    """Issue a locked draft, whatever it lacks: somebody may have paid it already."""
    complete_details(invoice, now)
    _number(invoice, Status.OPEN, now)
    record_invoice_activity(invoice=invoice, what="issued", by=by)
    record_invoice_event(invoice=invoice, name=events.INVOICE_CREATED, now=now)
    if invoice.total == 0:
        settle_invoice(invoice=invoice, now=now)
    return invoice


@transaction.atomic
def send_invoice(*, invoice: Invoice, now: datetime, by: Actor) -> Invoice:
    """Send an issued invoice or credit note to its buyer, with its PDF. Raises `InvoiceIsDraft`, `InvoiceRefused`."""
    invoice = _lock_issued(invoice)
    if invoice.status == Status.VOID:
        raise InvoiceNotOpen
    queue_invoice_mail(invoice=invoice)
    invoice.sent_at = invoice.updated_at = now
    invoice.save(update_fields=["sent_at", "updated_at"])
    record_invoice_activity(invoice=invoice, what="sent", by=by)
    record_invoice_event(invoice=invoice, name=events.INVOICE_SENT, now=now)
    return invoice


@transaction.atomic
def void_invoice(*, invoice: Invoice, now: datetime, by: Actor) -> Invoice:
    """Cancel an invoice by a credit note of all that is left of it.

    Raises `InvoiceIsDraft`, `InvoiceNotOpen`, `InvoiceIsPaid`, `InvoiceIsBeingPaid`.
    """
    invoice = _lock_correctable(invoice)
    if invoice.paid != 0:
        raise InvoiceIsPaid
    _refuse_while_being_paid(invoice)
    if invoice.credited < invoice.total or not invoice.total:
        _issue_credit_note(invoice, whole_credit(invoice), now, by)
    _mark_void(invoice, now, by)
    return invoice


@transaction.atomic
def credit_invoice(*, invoice: Invoice, now: datetime, by: Actor, lines: Sequence[LineInput] | None = None) -> Invoice:
    """Issue a credit note, and return it. Without lines it takes all that is left.

    An invoice that is credited as a whole, and for which nothing was paid, becomes void. Raises `InvoiceIsDraft`,
    `InvoiceNotOpen`, `NothingToCredit`, `CreditRefused`, `AmountRefused`, and `InvoiceIsBeingPaid` where it would
    become void.
    """
    invoice = _lock_correctable(invoice)
    if invoice.credited >= invoice.total:
        raise NothingToCredit
    credit = whole_credit(invoice) if lines is None else partial_credit(invoice, _rows_of_credit(invoice, lines))
    note = _issue_credit_note(invoice, credit, now, by)
    if invoice.credited == invoice.total and invoice.paid == 0:
        _refuse_while_being_paid(invoice)
        _mark_void(invoice, now, by)
    else:
        settle_invoice(invoice=invoice, now=now)
    return note


def pay_url(invoice: Invoice) -> str | None:
    """Return the address of the public pay page. A draft, a void invoice and a credit note have none."""
    return invoice.pay_url


def invoice_of_token(token: str) -> Invoice | None:
    """Find an issued invoice by the token of its pay page."""
    rows = Invoice.objects.filter(token_digest=_digest(token), kind=Kind.INVOICE)
    return rows.select_related("workspace__agency", "contact").first()


def lock_invoice(invoice: Invoice) -> Invoice:
    """Lock the row and read it anew, inside the caller's transaction. Raises `InvoiceNotFound`."""
    rows = Invoice.objects.select_for_update(of=("self",), no_key=True).select_related("workspace__agency")
    found = rows.filter(pk=invoice.pk).first()
    if found is None:
        raise InvoiceNotFound
    return found


def _lock_draft(invoice: Invoice) -> Invoice:
    found = lock_invoice(invoice)
    if not found.is_draft:
        raise InvoiceNotDraft
    if found.is_prepayment:
        raise InvoiceIsBeingPaid
    return found


def _refuse_while_being_paid(invoice: Invoice) -> None:
    if invoice.checkouts.filter(status__in=UNFINISHED).exists():
        raise InvoiceIsBeingPaid


def _lock_issued(invoice: Invoice) -> Invoice:
    found = lock_invoice(invoice)
    if found.is_draft:
        raise InvoiceIsDraft
    return found


def _lock_correctable(invoice: Invoice) -> Invoice:
    found = _lock_issued(invoice)
    if found.kind != Kind.INVOICE or found.status == Status.VOID:
        raise InvoiceNotOpen
    return found


def _lock_own_contact(workspace: Workspace, contact: Contact) -> Contact:
    found = lock_contact(contact)
    if found.workspace_id != workspace.pk:
        raise ContactNotFound
    return found


def _rows_of(invoice: Invoice, lines: Sequence[LineInput]) -> list[InvoiceLine]:
    """Make the lines of a draft. Raises `AmountRefused`, `TaxRateNotFound`, `ProductNotFound`."""
    rows = []
    for line in lines:
        row, rate = _row_of(invoice, line), line.tax_rate
        if rate is not None:
            if rate.workspace_id != invoice.workspace_id or rate.is_archived:
                raise TaxRateNotFound
            row.tax_name, row.tax_percent, row.tax_inclusive = rate.name, rate.percent, rate.inclusive
        rows.append(row)
    return rows


def _rows_of_credit(invoice: Invoice, lines: Sequence[LineInput]) -> list[InvoiceLine]:
    """Make the lines of a credit note, with the tax rates as the invoice has copied them."""
    copied = {line.tax_rate_id: line for line in invoice.lines.all()}
    rows = []
    for line in lines:
        row = _row_of(invoice, line)
        rate = copied.get(row.tax_rate_id)
        if rate is None:
            raise CreditRefused("A line has a tax rate that the invoice does not have.")
        row.tax_name, row.tax_percent, row.tax_inclusive = rate.tax_name, rate.tax_percent, rate.tax_inclusive
        rows.append(row)
    return rows


def _row_of(invoice: Invoice, line: LineInput) -> InvoiceLine:
    if not 0 < line.quantity < LARGEST_QUANTITY or round(line.quantity, QUANTITY_DECIMALS) != line.quantity:
        raise AmountRefused("The quantity of a line must be more than zero, with at most three decimals.")
    if line.product is not None and line.product.workspace_id != invoice.workspace_id:
        raise ProductNotFound
    unit_price = to_minor(line.unit_price, invoice.exponent)
    if abs(unit_price) > LARGEST_PRICE:
        raise AmountRefused("The price of a line is too large.")
    return InvoiceLine(
        description=line.description.strip(),
        quantity=line.quantity,
        unit_price=unit_price,
        amount=line_amount(line.quantity, unit_price),
        tax_percent=NO_TAX.percent,
        tax_rate=line.tax_rate,
        product=line.product,
    )


def _save_lines(invoice: Invoice, rows: list[InvoiceLine], totals: Totals) -> None:
    write_lines(invoice, rows, totals)
    invoice.save(update_fields=["net", "tax", "total"])


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="replace")).digest()


def _number(invoice: Invoice, status: Invoice.Status, now: datetime) -> None:
    """Give an invoice its number, and save it as issued."""
    invoice.token = token = secrets.token_urlsafe(24)
    invoice.token_digest = _digest(token)
    invoice.status, invoice.issued_at, invoice.updated_at = status, now, now
    invoice.number = take_number(invoice)
    invoice.save()


def _issue_credit_note(invoice: Invoice, credit: Credit, now: datetime, by: Actor) -> Invoice:
    """Issue a credit note. Nobody owes it, so that it is paid at once."""
    copied = ("workspace", "contact", "currency", "exponent", "language", "seller", "buyer", "reverse_charge")
    note = Invoice(kind=Kind.CREDIT_NOTE, credits=invoice, created_at=now, updated_at=now)
    for name in copied:
        setattr(note, name, getattr(invoice, name))
    note.supplied_on = invoice.supplied_on
    note.save(force_insert=True)
    write_lines(note, credit.lines, credit.totals)
    _number(note, Status.PAID, now)
    invoice.credited += note.total
    invoice.updated_at = now
    invoice.save(update_fields=["credited", "updated_at"])
    record_invoice_activity(invoice=note, what="credited", by=by)
    record_invoice_event(invoice=note, name=events.INVOICE_CREATED, now=now)
    return note


def _mark_void(invoice: Invoice, now: datetime, by: Actor) -> None:
    invoice.status, invoice.voided_at, invoice.updated_at = Status.VOID, now, now
    invoice.save(update_fields=["status", "voided_at", "updated_at"])
    record_invoice_activity(invoice=invoice, what="voided", by=by)
    record_invoice_event(invoice=invoice, name=events.INVOICE_VOIDED, now=now)


def _move_invoices(kept: int, gone: int) -> None:
    Invoice.objects.filter(contact_id=gone).update(contact_id=kept)


def _remove_drafts(contact: int) -> None:
    """Delete a contact's drafts. Issued invoices stay, and what may have been paid, with their copy of the buyer."""
    Invoice.objects.filter(contact_id=contact, status=Status.DRAFT, is_prepayment=False, checkouts=None).delete()


MERGE_HANDLER: Final = ContactMergeHandler("invoices", _move_invoices)
REMOVAL_HANDLER: Final = ContactRemovalHandler("invoices", _remove_drafts)
