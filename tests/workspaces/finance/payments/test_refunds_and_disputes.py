"""Refunds through Stripe, refunds that are made there, and disputes."""

from importlib import import_module

import pytest
from django.db import connection
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import NotificationEvent
from agency.notification_kinds import notification_kind
from tests import furnished
from tests.factories.finance import a_line
from tests.tenants import Tenant
from tests.workspaces.finance.payments.paying import (
    an_invoice,
    deliver,
    make_due,
    paid_by_card,
    pay_at_stripe,
    press_pay,
    work,
)
from tools.sandbox.stripe.server import RunningStripe
from workspaces.finance.models import Dispute, Invoice, Payment, ProviderAccount, Refund
from workspaces.finance.services.invoices import credit_invoice
from workspaces.finance.services.provider_work import take_turn
from workspaces.finance.services.refunds import RefundRefused, refund_payment

pytestmark = pytest.mark.django_db
a = furnished.a_with_customer


@pytest.fixture
def payment(invoice: Invoice, stripe: RunningStripe) -> Payment:
    """A card payment of 119.00."""
    return paid_by_card(invoice, stripe)


def give_back(payment: Payment, amount: int) -> Refund:
    return refund_payment(payment=payment, amount=amount, now=now(), by=SYSTEM)


def paid_of(payment: Payment) -> int:
    return Invoice.objects.get(pk=payment.invoice_id).paid


def pages_of_notifications(kind: str) -> list[str]:
    """The pages to which the notifications of a kind lead."""
    events = NotificationEvent.objects.filter(kind=kind)
    return [notification_kind(kind).address(event.object_id) for event in events]


def test_a_refund_is_reserved_before_stripe_is_called(
    payment: Payment, account: ProviderAccount, stripe: RunningStripe
) -> None:
    refund = give_back(payment, 10_000)
    assert (refund.status, paid_of(payment)) == ("pending", 1_900)
    with pytest.raises(RefundRefused):
        give_back(payment, 1_901)
    assert not stripe.control("ledger")["refunds"]
    work(account)
    refund.refresh_from_db()
    assert (refund.status, paid_of(payment)) == ("succeeded", 1_900)
    deliver(stripe)
    work(account)
    assert Refund.objects.count() == 1


def test_an_answer_that_is_lost_makes_no_second_refund(
    payment: Payment, account: ProviderAccount, stripe: RunningStripe
) -> None:
    refund = give_back(payment, 10_000)
    stripe.control("fault", call="create_refund", kind="close", times=3, after=True)
    make_due()
    assert refund.status == "pending"
    assert not take_turn(account.pk)
    make_due()
    work(account)
    refund.refresh_from_db()
    assert refund.status == "succeeded"
    assert len(stripe.control("ledger")["refunds"]) == 1


def test_a_refund_that_stripe_refuses_is_released_and_told(
    payment: Payment, account: ProviderAccount, stripe: RunningStripe
) -> None:
    stripe.control("refund", payment_intent=payment.provider_id, amount=11_900)  # somebody was faster, at Stripe
    refund = give_back(payment, 5_000)
    work(account)
    refund.refresh_from_db()
    assert (refund.status, refund.failure) == ("failed", "charge_already_refunded")
    assert paid_of(payment) == 11_900
    assert pages_of_notifications("workspace.refund_failed") == [f"/app/invoices/{payment.invoice.uuid}"]
    deliver(stripe)
    work(account)
    assert paid_of(payment) == 0


def test_a_refund_that_fails_later_counts_as_paid_again(
    payment: Payment, account: ProviderAccount, stripe: RunningStripe
) -> None:
    give_back(payment, 5_000)
    work(account)
    [told] = stripe.control("ledger")["refunds"]
    stripe.control("change_refund", refund=told["id"], status="failed")
    deliver(stripe)
    work(account)
    assert Refund.objects.get().status == "failed"
    assert paid_of(payment) == 11_900


def test_a_pending_refund_is_asked_about(payment: Payment, account: ProviderAccount, stripe: RunningStripe) -> None:
    made = stripe.control("refund", payment_intent=payment.provider_id, amount=5_000, status="pending")
    deliver(stripe)
    work(account)
    assert (Refund.objects.get().status, paid_of(payment)) == ("pending", 6_900)
    stripe.control("change_refund", refund=made["id"], status="succeeded")
    stripe.control("take")
    Refund.objects.update(call_at=now())
    work(account)
    assert Refund.objects.get().status == "succeeded"


def test_a_dispute_takes_the_money_back_until_it_is_won(
    payment: Payment, account: ProviderAccount, stripe: RunningStripe
) -> None:
    told = stripe.control("dispute", payment_intent=payment.provider_id)
    deliver(stripe)
    work(account)
    payment.refresh_from_db()
    assert (payment.status, paid_of(payment)) == ("disputed", 0)
    assert pages_of_notifications("workspace.payment_disputed") == [f"/app/invoices/{payment.invoice.uuid}"]
    with pytest.raises(RefundRefused):
        give_back(payment, 1)
    stripe.control("close_dispute", dispute=told["id"], won=True)
    deliver(stripe)
    work(account)
    assert (Dispute.objects.get().status, paid_of(payment)) == ("won", 11_900)


def test_a_dispute_above_the_payment_is_recorded_all_the_same(
    payment: Payment, account: ProviderAccount, stripe: RunningStripe
) -> None:
    stripe.control("dispute", payment_intent=payment.provider_id, amount=13_000)
    deliver(stripe)
    work(account)
    assert paid_of(payment) == -1_100


def test_a_refund_that_is_heard_of_before_its_payment(
    invoice: Invoice, account: ProviderAccount, stripe: RunningStripe
) -> None:
    pay_at_stripe(press_pay(invoice))
    stripe.control("take")  # the event about the payment is lost
    [intent] = stripe.control("ledger")["intents"]
    stripe.control("refund", payment_intent=intent["id"], amount=1_900)
    deliver(stripe)
    work(account)
    assert (Payment.objects.get().amount, Invoice.objects.get(pk=invoice.pk).paid) == (11_900, 10_000)


def test_more_than_is_owed_is_recorded_and_told(a: Tenant, account: ProviderAccount, stripe: RunningStripe) -> None:
    """Somebody pays at Stripe while the invoice is credited, so that less is owed than the session takes."""
    invoice = an_invoice(a)
    pay_at_stripe(press_pay(invoice))
    credit_invoice(invoice=invoice, lines=[a_line("19")], now=now(), by=SYSTEM)
    deliver(stripe)
    work(account)
    invoice.refresh_from_db()
    assert (invoice.status, invoice.balance) == ("paid", -1_900)
    assert pages_of_notifications("workspace.invoice_overpaid") == [f"/app/invoices/{invoice.uuid}"]
    # An earlier version did not store which invoice it is.
    NotificationEvent.objects.update(object_id="")
    with connection.cursor() as cursor:
        cursor.execute(import_module("workspaces.finance.migrations.0006_notifications_name_invoices").NAME_INVOICES)
    assert pages_of_notifications("workspace.invoice_overpaid") == [f"/app/invoices/{invoice.uuid}"]
