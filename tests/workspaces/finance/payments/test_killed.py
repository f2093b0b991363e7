"""Processes that are killed while they call Stripe: one session, payment and refund each, and no event is lost."""

from collections.abc import Callable

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.processes.preloaded import Order, Preloaded
from tests.sizes import size
from tests.tenants import Tenant
from tests.waiting import until
from tests.workspaces.finance.payments.paying import (
    KEY,
    an_invoice,
    deliver,
    make_due,
    paid_by_card,
    pay_at_stripe,
    press_pay,
    work,
)
from tools.sandbox.stripe.server import RunningStripe
from workspaces.finance.models import Checkout, Payment, ProviderAccount, ProviderEvent, Refund
from workspaces.finance.services.refunds import refund_payment

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
a = furnished.a_with_customer
KILLS, INVOICES = size("killed payments", "kills at each call"), size("killed payments", "invoices")


class Killer:
    """Kills processes at their calls of Stripe."""

    def __init__(self, stripe: RunningStripe, preloaded: Preloaded) -> None:
        self.stripe, self.preloaded, self.kills = stripe, preloaded, 0

    def kill_often(self, call: str, work: str) -> None:
        """Kill several processes at a call: the last one when Stripe has done it, the others before."""
        for number in range(KILLS):
            self.kill(call, work, is_done=number == KILLS - 1)

    def kill(self, call: str, work: str, *, is_done: bool, skip: int = 0) -> None:
        """Have a process work, kill it while it waits for the answer to a call, and let time pass.

        The first `skip` calls are answered.
        """
        before = self._faults()
        self.stripe.control("fault", call=call, kind="hang", times=None, after=is_done, skip=skip)
        order = Order("tests.workspaces.finance.payments.killed_paying", (work,), self.stripe.variables)
        with self.preloaded.killed_at_end(order):
            until(lambda: self._faults() > before)
        self.stripe.control("fault")
        self.kills += 1
        make_due()

    def _faults(self) -> int:
        return sum(one["fault"] is not None for one in self.stripe.control("ledger")["calls"])


@pytest.fixture
def killer(stripe: RunningStripe, preloaded: Preloaded) -> Killer:
    return Killer(stripe, preloaded)


def test_clicks_and_events_that_are_killed_leave_one_session_and_one_charge(
    a: Tenant, account: ProviderAccount, stripe: RunningStripe, killer: Killer, record_property: Callable[..., None]
) -> None:
    for number in range(1, INVOICES + 1):
        invoice = an_invoice(a)
        killer.kill_often("create_session", "click")
        assert Checkout.objects.get(invoice=invoice).status == "starting"
        pay_at_stripe(press_pay(invoice))
        deliver(stripe)
        killer.kill_often("read_intent", "worker")
        work(account)
        assert len(stripe.control("ledger")["sessions"]) == number
        assert len(stripe.control("ledger")["intents"]) == number
        assert Payment.objects.get(invoice=invoice).amount == 11_900
        invoice.refresh_from_db()
        assert (invoice.status, invoice.paid) == ("paid", 11_900)
    record_property("kills", killer.kills)


def test_a_refund_that_is_killed_is_made_once(
    a: Tenant, account: ProviderAccount, stripe: RunningStripe, killer: Killer, record_property: Callable[..., None]
) -> None:
    for number in range(1, INVOICES + 1):
        payment = paid_by_card(an_invoice(a), stripe)
        refund_payment(payment=payment, amount=1_900, now=now(), by=SYSTEM)
        killer.kill_often("create_refund", "worker")
        refund = Refund.objects.get(payment=payment)
        assert refund.status == "pending"
        work(account)
        refund.refresh_from_db()
        assert refund.status == "succeeded"
        deliver(stripe)
        work(account)
        assert [one["amount"] for one in stripe.control("ledger")["refunds"]] == [1_900] * number
    record_property("kills", killer.kills)


def test_a_look_that_is_killed_anywhere_misses_nothing(
    a: Tenant, account: ProviderAccount, stripe: RunningStripe, killer: Killer
) -> None:
    payment = paid_by_card(an_invoice(a), stripe)
    stripe.control("refund", payment_intent=payment.provider_id, amount=1_900)
    stripe.control("flood", key=KEY, number=250)  # three pages, the refund on the last one
    stripe.control("take")
    looked_until = ProviderAccount.objects.get().looked_until
    stored = []
    make_due()
    for pages in range(2):
        killer.kill("list_events", "worker", is_done=True, skip=pages)
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
