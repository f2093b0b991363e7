"""Tax rates and invoices."""

from collections.abc import Sequence as Several
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.utils.timezone import now
from factory.declarations import Sequence, SubFactory

from agency.actors import SYSTEM
from tests.factories.base import A_MOMENT_AGO, ByService
from tests.factories.contacts import ContactFactory
from tests.factories.workspaces import WorkspaceFactory
from workspaces.contacts.models import Contact
from workspaces.finance.models import Invoice, Payment, Payout, PayoutTransaction, ProviderAccount, TaxRate
from workspaces.finance.providers.payouts import ProviderPayout
from workspaces.finance.services.invoices import LineInput, create_invoice, issue_invoice, lock_invoice
from workspaces.finance.services.payments import record_payment
from workspaces.finance.services.payouts import record_payout
from workspaces.finance.services.recording import settle_invoice
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


def a_provider_payout(status: str = "paid", **changes: Any) -> ProviderPayout:
    """What the provider says of a payout of 116.97."""
    values: dict[str, Any] = {
        "id": f"po_{uuid4().hex}",
        "amount": 11_697,
        "currency": "USD",
        "arrives_on": now().date(),
        "automatic": True,
        "reconciled": False,
        "failure_code": "account_closed" if status == "failed" else "",
        "failure_message": "The bank account has been closed." if status == "failed" else "",
        "created_at": now(),
    }
    return ProviderPayout(status=status, **{**values, **changes})


def a_payout(workspace: Workspace, status: str = "paid", *, payment: Payment | None = None, **changes: Any) -> Payout:
    """Record a payout. With a payment it consists of that, of which the provider keeps 2.03.

    If the workspace has had no account at a provider, it gets one that is disconnected.
    """
    known = ProviderAccount.objects.filter(workspace=workspace).first()
    account = known or ProviderAccount.objects.create(workspace=workspace, disconnected_at=now())
    payout = record_payout(account=account, told=a_provider_payout(status, **changes), now=now())
    if payment is not None:
        values: dict[str, Any] = {"amount": payment.amount, "fee": 203, "created_at": now()}
        names = {"provider_id": "txn_1", "kind": "payment", "provider_kind": "charge", "source_id": "ch_1"}
        PayoutTransaction.objects.create(payout=payout, payment=payment, **names, **values)
        Payout.objects.filter(pk=payout.pk).update(fees=203, listed_at=now())
        payout.refresh_from_db()
    return payout


def invoice_ids(workspace: Workspace, mark: str, contact: Contact) -> dict[str, UUID]:
    """Give the ids of a draft, an issued invoice, a tax rate, a payment and its payout."""
    sent_to = ContactFactory.create(workspace=workspace, name=f"Buyer {mark}", email=f"{mark}@example.com")
    payment = a_payment(an_issued_invoice(workspace, contact=sent_to), note=f"Statement {mark}")
    return {
        "invoice": InvoiceFactory.create(workspace=workspace, contact=contact, note=f"Note {mark}").uuid,
        "issued_invoice": an_issued_invoice(workspace, contact=sent_to).uuid,
        "tax_rate": TaxRateFactory.create(workspace=workspace, name=f"Tax {mark}").uuid,
        "payment": payment.uuid,
        "payout": a_payout(workspace, payment=payment, id=f"po_{mark}").uuid,
    }
