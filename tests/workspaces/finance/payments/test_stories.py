"""Random stories of payers, people and Stripe: in the end our ledger is Stripe's, whatever order things had.

Webhooks come late, twice, in any order, or never.
"""

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.utils.timezone import now
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as search
from hypothesis import strategies as st

from agency.actors import SYSTEM
from config.errors import DomainError
from tests import furnished
from tests.sizes import size
from tests.tenants import Tenant
from tests.workspaces.finance.payments.paying import an_invoice, make_due, pay_at_stripe, post_event, press_pay, work
from tools.sandbox.stripe.server import RunningStripe
from workspaces.finance.models import Checkout, Payment, ProviderAccount, Refund
from workspaces.finance.services.checkouts import end_checkouts
from workspaces.finance.services.invoices import void_invoice
from workspaces.finance.services.payments import record_payment
from workspaces.finance.services.provider_work import take_turn
from workspaces.finance.services.refunds import refund_payment

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
a = furnished.a_with_customer
# The small form is enough for each of the faults that this file was tried against.
STORIES, HAPPENINGS_OF_STORY = size("payments", "stories"), size("payments", "things that happen")


class Story:
    """One invoice, and everything that can happen to it."""

    def __init__(self, tenant: Tenant, account: ProviderAccount, stripe: RunningStripe) -> None:
        self.account, self.stripe = account, stripe
        stripe.control("forget_objects")
        stripe.control("take")
        Checkout.objects.update(check_at=None)  # those of the stories before
        Refund.objects.update(call_at=None)
        self.invoice = an_invoice(tenant)
        self.undelivered: list[dict[str, str]] = []

    def ledger(self) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = self.stripe.control("ledger")
        return found

    # What payers and people at Stripe do.

    def payer(self, amount: int) -> None:
        self.invoice.refresh_from_db()
        is_processing = Checkout.objects.filter(invoice=self.invoice, status="processing").exists()
        if self.invoice.status == "open" and self.invoice.balance > 0 and not is_processing:
            answer = press_pay(self.invoice)
            if answer.status_code == 303:
                pay_at_stripe(answer, "delay" if amount % 3 == 0 else "pay")

    def debit(self, amount: int) -> None:
        for session in self.ledger()["sessions"]:
            if session["status"] == "complete" and session["payment_status"] == "unpaid":
                with_fault = Checkout.objects.filter(provider_id=session["id"], status="failed").exists()
                if not with_fault:
                    self.at_stripe("settle", session=session["id"], succeeds=amount % 2 == 0)

    def refund_there(self, amount: int) -> None:
        for intent in self.ledger()["intents"][:1]:
            self.at_stripe("refund", payment_intent=intent["id"], amount=amount)

    def dispute(self, amount: int) -> None:
        for intent in self.ledger()["intents"][:1]:
            if intent["status"] == "succeeded" and not self.ledger()["disputes"]:
                self.at_stripe("dispute", payment_intent=intent["id"], amount=amount)

    def end_dispute(self, amount: int) -> None:
        for dispute in self.ledger()["disputes"]:
            if dispute["status"] == "needs_response":
                self.at_stripe("close_dispute", dispute=dispute["id"], won=amount % 2 == 0)

    def at_stripe(self, what: str, **options: Any) -> None:
        try:
            self.stripe.control(what, **options)
        except ValueError:
            return  # Stripe refuses it

    # What the workspace's people do.

    def by_hand(self, amount: int) -> None:
        self.may_be_refused(lambda: end_checkouts(invoice=self.invoice, now=now()))
        self.may_be_refused(
            lambda: record_payment(invoice=self.invoice, amount=amount, method="cash", now=now(), by=SYSTEM)
        )

    def refund(self, amount: int) -> None:
        for payment in Payment.objects.filter(invoice=self.invoice).select_related("invoice").order_by("-id")[:1]:
            self.may_be_refused(partial(refund_payment, payment=payment, amount=amount, now=now(), by=SYSTEM))

    def void(self, amount: int) -> None:
        self.may_be_refused(lambda: end_checkouts(invoice=self.invoice, now=now()))
        self.may_be_refused(lambda: void_invoice(invoice=self.invoice, now=now(), by=SYSTEM))

    def may_be_refused(self, change: Callable[[], object]) -> None:
        try:
            change()
        except DomainError:
            return

    # What becomes of events and of time.

    def deliver(self, amount: int) -> None:
        events = [*self.undelivered, *self.taken()]
        chance = random.Random(amount)
        chance.shuffle(events)
        self.undelivered = [one for one in events if amount % 4 == 0 and chance.random() < 0.5]
        for event in [one for one in events if one not in self.undelivered]:
            for _ in range(1 + amount % 2):
                assert post_event(event).status_code == 200
        take_turn(self.account.pk)

    def lose(self, amount: int) -> None:
        """Lose webhooks for good: those that wait to be delivered, or of the others every second one."""
        self.undelivered = self.undelivered[1::2] if amount % 2 else [*self.undelivered, *self.taken()[1::2]]

    def taken(self) -> list[dict[str, str]]:
        found: list[dict[str, str]] = self.stripe.control("take")
        return found

    def wait(self, amount: int) -> None:
        make_due()
        take_turn(self.account.pk)

    def settle(self) -> None:
        """Lose all webhooks that have not arrived, and let time pass until nothing is on its way."""
        self.taken()
        for _ in range(5):
            make_due()
            work(self.account)

    def check(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        ledger = self.ledger()
        arrived = {one["id"]: one["amount_received"] for one in ledger["intents"] if one["status"] == "succeeded"}
        payments = Payment.objects.filter(invoice=self.invoice)
        assert dict(payments.exclude(account=None).values_list("provider_id", "amount")) == arrived
        back = {one["id"]: (one["amount"], one["status"]) for one in ledger["refunds"]}
        refunds = Refund.objects.filter(payment__invoice=self.invoice)
        theirs = refunds.exclude(provider_id="").values_list("provider_id", "amount", "status")
        assert {key: (amount, status) for key, amount, status in theirs} == back
        assert not refunds.filter(status="pending").exists()
        withdrawn = sum(one["amount"] for one in ledger["disputes"] if one["status"] != "won")
        by_hand = sum(payments.filter(account=None).values_list("amount", flat=True))
        by_hand -= sum(refunds.filter(provider_id="", status="succeeded").values_list("amount", flat=True))
        self.invoice.refresh_from_db()
        ours = sum(arrived.values()) - sum(amount for amount, status in back.values() if status == "succeeded")
        assert self.invoice.paid == ours - withdrawn + by_hand
        if self.invoice.balance <= 0:
            assert self.invoice.status in {"paid", "void"}


HAPPENINGS = (
    Story.payer,
    Story.payer,
    Story.debit,
    Story.refund_there,
    Story.refund,
    Story.refund,
    Story.dispute,
    Story.end_dispute,
    Story.by_hand,
    Story.void,
    Story.deliver,
    Story.deliver,
    Story.lose,
    Story.wait,
)


@search(
    phases=[Phase.generate],
    max_examples=STORIES,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    happenings=st.lists(
        st.tuples(st.sampled_from(HAPPENINGS), st.integers(1, 12_000)), min_size=3, max_size=HAPPENINGS_OF_STORY
    )
)
def test_the_ledger_is_stripes_whatever_order_things_have(
    a: Tenant,
    account: ProviderAccount,
    stripe: RunningStripe,
    happenings: list[tuple[Callable[[Story, int], None], int]],
) -> None:
    story = Story(a, account, stripe)
    for happen, amount in happenings:
        happen(story, amount)
    story.settle()
    story.check()
