"""Processes that are killed while they call Stripe: one session, one payment, one refund, and no event is missed."""

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.processes.preloaded import Order, Preloaded
from tests.waiting import until
from tests.workspaces.finance.payments.paying import (
    KEY,
    deliver,
    make_due,
    paid_by_card,
    pay_at_stripe,
    press_pay,
    work,
)
from tools.sandbox.stripe.server import RunningStripe
from workspaces.finance.models import Checkout, Invoice, Payment, ProviderAccount, ProviderEvent, Refund
from workspaces.finance.services.refunds import refund_payment

pytestmark = pytest.mark.django_db(transaction=True)
a = furnished.a_with_customer


def faults_of(stripe: RunningStripe) -> int:
    return sum(one["fault"] is not None for one in stripe.control("ledger")["calls"])


def killed_at(stripe: RunningStripe, call: str, preloaded: Preloaded, work: str, *, skip: int = 0) -> None:
    """Have a process work, let Stripe do its call and not answer, and kill the process then.

    The first `skip` calls are answered.
    """
    before = faults_of(stripe)
    stripe.control("fault", call=call, kind="hang", times=None, after=True, skip=skip)
    order = Order("tests.workspaces.finance.payments.killed_paying", (work,), stripe.variables)
    with preloaded.killed_at_end(order):
        until(lambda: faults_of(stripe) > before)
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


def test_a_look_that_is_killed_anywhere_misses_nothing(
    invoice: Invoice, account: ProviderAccount, stripe: RunningStripe, preloaded: Preloaded
) -> None:
    payment = paid_by_card(invoice, stripe)
    stripe.control("refund", payment_intent=payment.provider_id, amount=1_900)
    stripe.control("flood", key=KEY, number=250)  # three pages, the refund on the last one
    stripe.control("take")
    looked_until = ProviderAccount.objects.get().looked_until
    stored = []
    for pages in range(2):
        make_due()
        killed_at(stripe, "list_events", preloaded, "worker", skip=pages)
        stored.append(ProviderEvent.objects.filter(object_id__startswith="re_gone").count())
        assert ProviderAccount.objects.get().looked_until == looked_until
    assert stored == [0, 100]
    ProviderEvent.objects.filter(object_id__startswith="re_gone").update(due_at=None)
    make_due()
    work(account)
    ProviderEvent.objects.filter(object_id__startswith="re_gone").update(due_at=None)
    work(account)
    assert ProviderEvent.objects.filter(object_id__startswith="re_gone").count() == 250
    assert Refund.objects.get().amount == 1_900
    assert ProviderAccount.objects.get().look_cursor == ""
