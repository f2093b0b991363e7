"""Processes that are killed while they call Stripe: one session, one payment, one refund."""

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.processes.preloaded import Order, Preloaded
from tests.waiting import until
from tests.workspaces.finance.payments.paying import deliver, make_due, paid_by_card, pay_at_stripe, press_pay, work
from tools.sandbox.stripe.server import RunningStripe
from workspaces.finance.models import Checkout, Invoice, Payment, ProviderAccount, Refund
from workspaces.finance.services.refunds import refund_payment

pytestmark = pytest.mark.django_db(transaction=True)
a = furnished.a_with_customer


def killed_at(stripe: RunningStripe, call: str, preloaded: Preloaded, work: str) -> None:
    """Have a process work, let Stripe do its call and not answer, and kill the process then."""
    stripe.control("fault", call=call, kind="hang", times=None, after=True)
    order = Order("tests.workspaces.finance.payments.killed_paying", (work,), stripe.variables)
    with preloaded.killed_at_end(order):
        until(lambda: any(one["call"] == call for one in stripe.control("ledger")["calls"]))
    stripe.control("fault")


def test_a_click_that_is_killed_leaves_one_session_and_one_charge(
    invoice: Invoice, account: ProviderAccount, stripe: RunningStripe, preloaded: Preloaded
) -> None:
    killed_at(stripe, "create_session", preloaded, "click")
    assert Checkout.objects.get().status == "starting"
    pay_at_stripe(press_pay(invoice))
    deliver(stripe)
    work(account)
    assert len(stripe.control("ledger")["sessions"]) == 1
    assert len(stripe.control("ledger")["intents"]) == 1
    assert Payment.objects.get().amount == 11_900
    assert Invoice.objects.get().status == "paid"


def test_a_refund_that_is_killed_is_made_once(
    invoice: Invoice, account: ProviderAccount, stripe: RunningStripe, preloaded: Preloaded
) -> None:
    payment = paid_by_card(invoice, stripe)
    refund_payment(payment=payment, amount=1_900, now=now(), by=SYSTEM)
    killed_at(stripe, "create_refund", preloaded, "worker")
    assert Refund.objects.get().status == "pending"
    make_due()
    work(account)
    assert Refund.objects.get().status == "succeeded"
    assert [one["amount"] for one in stripe.control("ledger")["refunds"]] == [1_900]
