"""Tax rates and invoices."""

from collections.abc import Sequence as Several
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.timezone import now
from factory.declarations import Sequence, SubFactory

from agency.actors import SYSTEM
from tests.factories.base import A_MOMENT_AGO, ByService
from tests.factories.contacts import ContactFactory
from tests.factories.workspaces import WorkspaceFactory
from workspaces.contacts.models import Contact
from workspaces.finance.models import Invoice, Payment, TaxRate
from workspaces.finance.services.invoices import LineInput, create_invoice, issue_invoice, lock_invoice
from workspaces.finance.services.ledger import settle_invoice
from workspaces.finance.services.payments import record_payment
from workspaces.finance.services.taxes import create_tax_rate
from workspaces.subaccounts.models import Workspace


class TaxRateFactory(ByService[TaxRate]):
    class Meta:
        model = TaxRate

    workspace = SubFactory(WorkspaceFactory)
    name = Sequence(lambda number: f"Tax {number}")
    percent = Decimal(19)
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, **values: Any) -> TaxRate:
        return create_tax_rate(**values)


class InvoiceFactory(ByService[Invoice]):
    """A draft of one line. Without a tax rate the line costs 100.00."""

    class Meta:
        model = Invoice

    workspace = SubFactory(WorkspaceFactory)
    now = A_MOMENT_AGO

    @classmethod
    def make(cls, **values: Any) -> Invoice:
        workspace = values["workspace"]
        values.setdefault("lines", [a_line()])
        contact = values.pop("contact", None) or ContactFactory.create(workspace=workspace)
        return create_invoice(contact=contact, **values)


def a_line(price: str = "100", quantity: str = "1", rate: TaxRate | None = None) -> LineInput:
    return LineInput("Work", Decimal(quantity), Decimal(price), rate)


def an_issued_invoice(workspace: Workspace, *, lines: Several[LineInput] = (), **values: Any) -> Invoice:
    """Create and issue an invoice. Without lines it costs 100.00."""
    draft = InvoiceFactory.create(workspace=workspace, lines=lines or [a_line()], **values)
    return issue_invoice(invoice=draft, now=now(), by=SYSTEM)


def pay_in_cash(invoice: Invoice, amount: int) -> None:
    """Record money for an invoice, in minor units, as the services of payments do."""
    with transaction.atomic():
        locked = lock_invoice(invoice)
        Payment.objects.create(
            workspace_id=locked.workspace_id,
            invoice=locked,
            amount=amount,
            currency=locked.currency,
            method=Payment.Method.CASH,
            received_at=now(),
        )
        settle_invoice(invoice=locked, now=now())


def a_payment(invoice: Invoice, amount: int = 1_000, **values: Any) -> Payment:
    """Record a payment by hand, in minor units."""
    return record_payment(invoice=invoice, amount=amount, method=Payment.Method.CASH, now=now(), by=SYSTEM, **values)


def invoice_ids(workspace: Workspace, mark: str, contact: Contact) -> dict[str, UUID]:
    """Give the ids of a draft, an issued invoice, a tax rate and a payment."""
    sent_to = ContactFactory.create(workspace=workspace, name=f"Buyer {mark}", email=f"{mark}@example.com")
    return {
        "invoice": InvoiceFactory.create(workspace=workspace, contact=contact, note=f"Note {mark}").uuid,
        "issued_invoice": an_issued_invoice(workspace, contact=sent_to).uuid,
        "tax_rate": TaxRateFactory.create(workspace=workspace, name=f"Tax {mark}").uuid,
        "payment": a_payment(an_issued_invoice(workspace, contact=sent_to), note=f"Statement {mark}").uuid,
    }
