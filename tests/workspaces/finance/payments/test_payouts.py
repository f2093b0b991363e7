"""Payouts of Stripe: recorded with what they consist of, whatever becomes of the events about them."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, NotificationEvent
from tests import furnished
from tests.factories.finance import a_provider_payout
from tests.tenants import Tenant
from tests.workspaces.finance.payments.paying import (
    KEY,
    an_invoice,
    connected,
    deliver,
    make_due,
    paid_by_card,
    post_event,
    work,
)
from tools.sandbox.stripe.server import RunningStripe
from workspaces.finance.models import Invoice, Payment, Payout, PayoutTransaction, ProviderAccount, ProviderEvent
from workspaces.finance.providers import stripe as provider
from workspaces.finance.providers.webhooks import EVENTS
from workspaces.finance.services import payouts
from workspaces.finance.services.accounts import accepts_payments, stripe_of
from workspaces.finance.services.provider_work import take_turn
from workspaces.finance.services.refunds import refund_payment

pytestmark = pytest.mark.django_db
a, b = furnished.a_with_customer, furnished.b_with_customer


def paid_out(stripe: RunningStripe, *statuses: str, **options: Any) -> dict[str, Any]:
    """Let Stripe pay out what has arrived, and let the payout go on to these statuses."""
    made: dict[str, Any] = stripe.control("payout", **options)
    for status in statuses:
        made = stripe.control("change_payout", payout=made["id"], status=status)
    return made


def handle(account: ProviderAccount, stripe: RunningStripe) -> None:
    """Let the events arrive, and the task do what follows from them."""
    deliver(stripe)
    work(account)
    work(account)


def ask(account: ProviderAccount) -> None:
    """Ask for what was missed, as the regular task does."""
    ProviderAccount.objects.filter(pk=account.pk).update(look_at=now())
    work(account)


def stored(account: ProviderAccount) -> Iterator[tuple[Any, ...]]:
    for payout in Payout.objects.filter(account=account).order_by("id"):
        rows = payout.transactions.order_by("provider_id").values_list("provider_id", "kind", "amount", "fee")
        yield payout.provider_id, payout.status, payout.amount, payout.fees, payout.listed_at is not None, list(rows)


@pytest.fixture
def payment(invoice: Invoice, stripe: RunningStripe) -> Payment:
    """A card payment of 119.00, of which Stripe keeps 2.03."""
    return paid_by_card(invoice, stripe)


def test_a_payout_is_read_with_all_that_it_consists_of(
    a: Tenant, b: Tenant, payment: Payment, account: ProviderAccount, stripe: RunningStripe
) -> None:
    refund_payment(payment=payment, amount=1_900, now=now(), by=SYSTEM)
    work(account)
    made = paid_out(stripe, "in_transit", fees=[100])
    handle(account, stripe)
    [told] = a.workspace_api.get("/payouts").json()["data"]
    assert (told["amount"], told["currency"], told["status"], told["fees"]) == (96.97, "USD", "in_transit", None)
    assert (told["provider_id"], told["automatic"]) == (made["id"], True)
    assert told["arrives_on"] == datetime.fromtimestamp(made["arrival_date"], UTC).date().isoformat()
    for status in ("paid", "reconciled"):
        stripe.control("change_payout", payout=made["id"], status=status)
    handle(account, stripe)
    one = a.workspace_api.get(f"/payouts/{told['id']}").json()["data"]
    assert (one["status"], one["fees"]) == ("paid", 3.03)

    listed = a.workspace_api.get(f"/payouts/{told['id']}/transactions").json()["data"]
    by_kind = {row["kind"]: row for row in listed}
    assert sorted((row["kind"], row["amount"], row["fee"], row["net"]) for row in listed) == [
        ("fee", -1.0, 0.0, -1.0),
        ("payment", 119.0, 2.03, 116.97),
        ("refund", -19.0, 0.0, -19.0),
    ]
    assert round(sum(row["net"] for row in listed), 2) == one["amount"]
    invoice = {"id": str(payment.invoice.uuid), "number": payment.invoice.number}
    for kind in ("payment", "refund"):
        assert (by_kind[kind]["payment"], by_kind[kind]["invoice"]) == (str(payment.uuid), invoice)
    assert by_kind["refund"]["refund"] == str(payment.refunds.get().uuid)
    # Only a fee of Stripe's own has words: those of payments are other people's.
    assert [by_kind[kind]["description"] for kind in ("fee", "payment")] == ["Billing - usage fee", ""]
    assert (by_kind["fee"]["payment"], by_kind["fee"]["provider_kind"]) == (None, "stripe_fee")

    day = told["arrives_on"]
    later = (datetime.fromisoformat(day) + timedelta(days=1)).date().isoformat()
    for query, number in (
        ("status=paid", 1),
        ("status=failed", 0),
        ("status=x", 0),
        (f"arrives_after={day}&arrives_before={day}", 1),
        (f"arrives_after={later}", 0),
    ):
        assert a.workspace_api.get(f"/payouts?{query}").json()["meta"]["total"] == number, query
    assert a.workspace_api.get("/payouts?arrives_after=soon").status_code == 422
    assert b.workspace_api.get("/payouts").json()["data"] == []
    for path in (f"/payouts/{told['id']}", f"/payouts/{told['id']}/transactions"):
        assert b.workspace_api.get(path).status_code == 404, path


def test_what_becomes_of_the_events_makes_no_difference(
    a: Tenant, account: ProviderAccount, stripe: RunningStripe
) -> None:
    """Two payouts each: one arrives, one comes back from the bank after it was paid."""
    found = []
    for fate in ("kept", "doubled", "reversed", "lost"):
        for ends in (("in_transit", "paid", "reconciled"), ("paid", "reconciled", "failed")):
            paid_by_card(an_invoice(a), stripe)
            paid_out(stripe, *ends)
        events = stripe.control("take")
        sent = {"kept": events, "doubled": events * 2, "reversed": events[::-1], "lost": []}[fate]
        for event in sent:
            assert post_event(event).status_code == 200
            work(account)
        if fate == "lost":
            ask(account)
        work(account)
        made = [one["id"] for one in stripe.control("ledger")["payouts"][-2:]]
        mine = sorted((row for row in stored(account) if row[0] in made), key=lambda row: made.index(row[0]))
        found.append([(row[1:5], sorted(one[1:] for one in row[5])) for row in mine])
        before = list(stored(account))
        ask(account)
        work(account)
        assert list(stored(account)) == before, fate
    assert [[state[0] for state, _ in pair] for pair in found] == [["paid", "failed"]] * 4
    assert all(state[2:] == (203, True) for pair in found for state, _ in pair)
    # What the bank sent back comes along with the next payout.
    assert found[0] != found[1] == found[2] == found[3]
    assert Payout.objects.count() == 8
    assert NotificationEvent.objects.filter(kind="workspace.payout_failed").count() == 4
    failed = ActivityEntry.objects.filter(action="payout.failed")
    assert [entry.details["failure"] for entry in failed] == ["account_closed"] * 4


def test_a_payout_only_goes_forward(a: Tenant, account: ProviderAccount) -> None:
    of_one, earlier = {"id": "po_1", "amount": -1_500, "currency": "KWD"}, now().date() - timedelta(days=3)
    forward = ("pending", "in_transit", "pending", "paid", "in_transit", "failed", "paid", "canceled")
    found = [
        payouts.record_payout(account=account, told=a_provider_payout(status, **of_one), now=now()).status
        for status in forward
    ]
    assert found == ["pending", "in_transit", "in_transit", "paid", "paid", "failed", "failed", "failed"]
    payouts.record_payout(account=account, told=a_provider_payout("failed", arrives_on=earlier, **of_one), now=now())
    [told] = a.workspace_api.get("/payouts").json()["data"]
    assert (told["amount"], told["arrives_on"]) == (-1.5, earlier.isoformat())
    old = a_provider_payout("failed", id="po_2", created_at=now() - timedelta(days=40))
    payouts.record_payout(account=account, told=old, now=now())
    assert NotificationEvent.objects.filter(kind="workspace.payout_failed").count() == 1


def test_a_payout_that_somebody_makes_by_hand_has_no_transactions(
    a: Tenant, account: ProviderAccount, stripe: RunningStripe
) -> None:
    paid_out(stripe, "paid", amount=5_000)
    handle(account, stripe)
    [told] = a.workspace_api.get("/payouts").json()["data"]
    assert (told["amount"], told["automatic"], told["fees"]) == (50.0, False, None)
    assert a.workspace_api.get(f"/payouts/{told['id']}/transactions").json()["data"] == []
    assert not [call for call in stripe.control("ledger")["calls"] if call["call"] == "list_balance_transactions"]


def test_a_key_that_may_not_read_payouts_stops_nothing(
    a: Tenant, payment: Payment, account: ProviderAccount, stripe: RunningStripe
) -> None:
    stripe.control("key", key=KEY, lacking=["read_payout", "list_payouts"])
    paid_out(stripe, "paid", "reconciled")
    handle(account, stripe)
    ask(account)
    account.refresh_from_db()
    assert (account.failure, accepts_payments(a.workspace), account.payouts_refused_at is None) == ("", True, False)
    assert set(ProviderEvent.objects.filter(kind__startswith="payout.").values_list("due_at", "failure")) == {
        (None, "payouts_refused")
    }
    stripe.control("key", key=KEY, lacking=["list_balance_transactions"])
    ask(account)
    work(account)
    account.refresh_from_db()
    assert (account.failure, account.payouts_refused_at) == ("", None)
    payout = Payout.objects.get()
    assert (payout.status, payout.failure, payout.list_at) == ("paid", "permission_missing", None)
    stripe.control("key", key=KEY)
    ask(account)
    work(account)
    payout.refresh_from_db()
    assert (payout.fees, payout.failure, payout.transactions.count()) == (203, "", 1)


def test_an_endpoint_with_fewer_events_is_given_all_once(
    a: Tenant, stripe: RunningStripe, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr(provider, "EVENTS", EVENTS[:3])
        account = connected(a.workspace)
    for _ in range(2):
        ask(account)
    ledger = stripe.control("ledger")
    assert ledger["endpoints"][0]["enabled_events"] == list(EVENTS)
    assert [call["call"] for call in ledger["calls"]].count("update_endpoint") == 1


def test_long_lists_are_read_in_pieces_that_lose_nothing(
    a: Tenant, payment: Payment, account: ProviderAccount, stripe: RunningStripe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(payouts, "MOST_PAGES", 1)
    paid_out(stripe, "paid", "reconciled", fees=[1] * 119)
    deliver(stripe)
    work(account)
    work(account)
    assert PayoutTransaction.objects.count() == 49  # the payout itself is in Stripe's list, too
    stripe.control("fault", call="list_balance_transactions", kind="500", times=3)
    make_due()
    assert not take_turn(account.pk)
    for _ in range(2):
        make_due()
        work(account)
    payout = Payout.objects.get()
    assert (payout.transactions.count(), payout.fees, payout.list_at) == (120, 203 + 119, None)
    net = sum(row.net for row in payout.transactions.all())
    assert net == payout.amount == 11_900 - 203 - 119

    Payout.objects.update(listed_at=None, listed_to="", failure="")
    monkeypatch.setattr(payouts, "MOST_TRANSACTIONS", 60)
    ask(account)
    work(account)
    ask(account)  # a list without an end is given up, and not begun again
    payout.refresh_from_db()
    assert (payout.failure, payout.list_at) == ("too_many", None)


def test_a_list_costs_the_same_however_long_it_is(a: Tenant, account: ProviderAccount, stripe: RunningStripe) -> None:
    def cost() -> list[int]:
        found = []
        for path in ("/payouts", f"/payouts/{Payout.objects.latest('id').uuid}/transactions"):
            with CaptureQueriesContext(connection) as queries:
                assert a.workspace_api.get(path).status_code == 200
            found.append(sum('"finance_' in query["sql"] for query in queries))
        return found

    costs = []
    for number in (1, 4):
        for _ in range(number):
            paid_by_card(an_invoice(a), stripe)
        paid_out(stripe, "paid", "reconciled")
        handle(account, stripe)
        costs.append(cost())
    assert costs == [[2, 3]] * 2
    with CaptureQueriesContext(connection) as queries, stripe_of(account) as called:
        payouts.record_recent_payouts(called, account, now() - timedelta(days=7))
    assert sum('"finance_' in query["sql"] for query in queries) <= 5


def test_odd_answers_change_nothing(account: ProviderAccount, stripe: RunningStripe) -> None:
    made = paid_out(stripe, amount=100)
    [event] = stripe.control("take")
    body = json.loads(event["body"])
    assert (body["type"], body["data"]["object"]["id"]) == ("payout.created", made["id"])
    assert post_event(event).status_code == 200
    for kind in ("garbage", "huge", "close"):
        stripe.control("fault", call="read_payout", kind=kind, times=None)
        make_due()
        assert not take_turn(account.pk), kind
        stripe.control("fault")
    assert not Payout.objects.exists()
    make_due()
    work(account)
    assert Payout.objects.get().provider_id == made["id"]
