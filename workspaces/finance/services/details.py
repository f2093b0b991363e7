"""The parts of an invoice beside its lines: what a draft may say, and what issuing adds."""

from datetime import date, datetime, time, timedelta
from typing import Final, TypedDict
from zoneinfo import ZoneInfo

from django.conf import settings

from config.errors import InvalidInput
from workspaces.finance.models import Invoice
from workspaces.finance.models.parties import Party
from workspaces.finance.services.amounts import Totals
from workspaces.finance.services.settings import finance_settings_of, seller_of
from workspaces.subaccounts.models import Workspace

FARTHEST: Final = timedelta(days=3_660)
END_OF_DAY: Final = time(23, 59, 59)


class InvoiceRefused(InvalidInput):
    """A part of an invoice is missing or does not fit."""


class InvoiceDetails(TypedDict, total=False):
    """The optional parts of a draft. What `buyer` leaves empty is taken from the contact at issue."""

    due_at: datetime | None
    note: str
    supplied_on: date | None
    reverse_charge: bool
    buyer: Party
    language: str


def columns_of(details: InvoiceDetails) -> dict[str, object]:
    """Return the details as the columns hold them. Raises `InvoiceRefused` for an unknown language."""
    values = dict(details)
    if "buyer" in details:
        values["buyer"] = details["buyer"].as_json()
    if "language" in values and values["language"] not in dict(settings.LANGUAGES):
        raise InvoiceRefused("The product does not speak this language.", field="language")
    return values


def apply_details(invoice: Invoice, details: InvoiceDetails, now: datetime) -> None:
    """Set the details of a draft. Raises `InvoiceRefused`."""
    for name, value in columns_of(details).items():
        setattr(invoice, name, value)
    if invoice.due_at is not None and not now - FARTHEST <= invoice.due_at <= now + FARTHEST:
        raise InvoiceRefused("An invoice can be due at most ten years from now.", field="due_at")


def check_reverse_charge(invoice: Invoice, totals: Totals) -> None:
    """Raise `InvoiceRefused` for a tax on an invoice whose buyer owes the tax."""
    if invoice.reverse_charge and any(each.rate.percent for each in totals.taxes):
        raise InvoiceRefused("With reverse charge no line may have a tax.", field="reverse_charge")


def check_complete(invoice: Invoice, now: datetime) -> None:
    """Raise `InvoiceRefused` for a draft that lacks what an issued invoice needs."""
    buyer = invoice.billed_to
    if not invoice.lines.exists():
        raise InvoiceRefused("An invoice needs at least one line.", field="lines")
    if not buyer.name:
        raise InvoiceRefused("An invoice needs the name of its buyer.", field="buyer.name")
    if invoice.reverse_charge and not buyer.vat_id:
        raise InvoiceRefused("An invoice with reverse charge needs the buyer's VAT id.", field="buyer.vat_id")
    if invoice.due_at is not None and invoice.due_at <= now:
        raise InvoiceRefused("The due time has passed. Set a later one.", field="due_at")


def complete_details(invoice: Invoice, now: datetime) -> None:
    """Set what an invoice has from its issue on: both parties and the dates."""
    today = local_date(invoice.workspace, now)
    invoice.due_at = invoice.due_at or _due_at(invoice.workspace, today)
    invoice.supplied_on = invoice.supplied_on or today
    invoice.seller, invoice.buyer = seller_of(invoice.workspace).as_json(), invoice.billed_to.as_json()


def local_date(workspace: Workspace, moment: datetime) -> date:
    """Return the date of a moment by the workspace's clock."""
    return moment.astimezone(ZoneInfo(workspace.timezone)).date()


def _due_at(workspace: Workspace, today: date) -> datetime:
    """Return the end of the last day for payment, by the workspace's clock."""
    last = today + timedelta(days=finance_settings_of(workspace).payment_days)
    return datetime.combine(last, END_OF_DAY, tzinfo=ZoneInfo(workspace.timezone))
