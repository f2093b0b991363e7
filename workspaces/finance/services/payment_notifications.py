"""Notifications about money that is not as it should be, for the people of a workspace."""

from datetime import datetime
from typing import Final

from django.utils.translation import gettext_lazy as _

from agency.notification_kinds import NotificationKind
from agency.services.notifications.recording import record_notification
from agency.tenants import Audience
from workspaces.finance.models import Invoice, Payout, ProviderAccount
from workspaces.subaccounts.services import tenant_of
from workspaces.subaccounts.services.money import format_money

ACCOUNT_FAILING: Final = "workspace.payment_account_failing"
WEBHOOKS_MISSING: Final = "workspace.payment_webhooks_missing"
OVERPAID: Final = "workspace.invoice_overpaid"
DISPUTED: Final = "workspace.payment_disputed"
REFUND_FAILED: Final = "workspace.refund_failed"
PAYOUT_FAILED: Final = "workspace.payout_failed"
ACCOUNT_PAGE: Final = "app:payment-account"
INVOICE_PAGE: Final = "app:invoice"
KINDS: Final = (
    NotificationKind(
        name=ACCOUNT_FAILING,
        label=_("Payments by card have stopped"),
        text=_("Stripe no longer accepts your key. Nobody can pay invoices online until you enter a new one."),
        url_name=ACCOUNT_PAGE,
        audience=Audience.WORKSPACE,
    ),
    NotificationKind(
        name=WEBHOOKS_MISSING,
        label=_("Webhooks of Stripe have stopped"),
        text=_(
            "The webhook endpoint of your account at Stripe was deleted or disabled there, so payments and refunds are "
            "recorded late. Set it up again on the page Card payments."
        ),
        url_name=ACCOUNT_PAGE,
        audience=Audience.WORKSPACE,
    ),
    NotificationKind(
        name=OVERPAID,
        label=_("Invoice paid twice"),
        text=_("More was paid for the invoice %(number)s than is owed: %(amount)s too much."),
        url_name=INVOICE_PAGE,
        names_object=True,
        audience=Audience.WORKSPACE,
    ),
    NotificationKind(
        name=DISPUTED,
        label=_("Payment disputed"),
        text=_("The payer's bank disputes a payment of %(amount)s for invoice %(number)s. Respond to it in Stripe."),
        url_name=INVOICE_PAGE,
        names_object=True,
        audience=Audience.WORKSPACE,
    ),
    NotificationKind(
        name=REFUND_FAILED,
        label=_("Refund failed"),
        text=_("A refund of %(amount)s for the invoice %(number)s could not be made."),
        url_name=INVOICE_PAGE,
        names_object=True,
        audience=Audience.WORKSPACE,
    ),
    NotificationKind(
        name=PAYOUT_FAILED,
        label=_("Payout failed"),
        text=_("Your bank did not accept a payout of %(amount)s. Check your bank account in Stripe."),
        url_name="app:payouts",
        audience=Audience.WORKSPACE,
    ),
)


def notify_of_failing_account(account: ProviderAccount, *, now: datetime) -> None:
    key = f"{account.uuid}:{now.isoformat()}"
    record_notification(tenant=tenant_of(account.workspace), kind=ACCOUNT_FAILING, key=key, now=now)


def notify_of_missing_webhooks(account: ProviderAccount, *, now: datetime) -> None:
    key = f"{account.uuid}:{account.endpoint_id}:{now.isoformat()}"
    record_notification(tenant=tenant_of(account.workspace), kind=WEBHOOKS_MISSING, key=key, now=now)


def notify_of_money(kind: str, *, invoice: Invoice, key: object, amount: int, now: datetime) -> None:
    """Notify of an amount that concerns an invoice; `key` identifies what happened."""
    told: dict[str, object] = {"number": invoice.number, "amount": format_money(amount, invoice.currency)}
    record_notification(
        tenant=tenant_of(invoice.workspace), kind=kind, key=str(key), now=now, object_id=str(invoice.uuid), data=told
    )


def notify_of_failed_payout(payout: Payout, *, now: datetime) -> None:
    """Notify of money that did not arrive at the bank, once for each payout."""
    told: dict[str, object] = {"amount": format_money(payout.amount, payout.currency)}
    tenant = tenant_of(payout.workspace)
    record_notification(tenant=tenant, kind=PAYOUT_FAILED, key=str(payout.uuid), data=told, now=now)
