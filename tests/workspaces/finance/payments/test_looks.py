"""Events whose webhooks were lost are found in Stripe's list of events; a lost webhook endpoint is made anew."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, NotificationEvent
from config.metrics import METRICS, Gauge
from tests import furnished
from tests.agency.console.browsers import a_browser, text
from tests.tenants import Tenant
from tests.workspaces.finance.payments.paying import KEY, connected, make_due, paid_by_card, post_event, work
from tools.sandbox.stripe.server import RunningStripe
from workspaces.finance.models import Dispute, Invoice, Payment, ProviderAccount, ProviderEvent, Refund
from workspaces.finance.providers.stripe import Stripe
from workspaces.finance.providers.webhooks import EVENTS, EventPage
from workspaces.finance.services import provider_events
from workspaces.finance.services.accounts import accepts_payments
from workspaces.finance.services.connecting import disconnect_account
from workspaces.finance.services.provider_events import LOOK_EVERY, MOST_PAGES, MOST_WAITING, look_for_events
from workspaces.finance.services.provider_work import take_turn

pytestmark = pytest.mark.django_db
a = furnished.a_with_customer
b = furnished.b_with_customer
PAGE = "/app/payment-account"
RENEW = f"{PAGE}/webhooks"


@pytest.fixture
def owner_browser(a: Tenant) -> Client:
    return a_browser(a.workspace.owner)


@pytest.fixture
def payment(invoice: Invoice, stripe: RunningStripe) -> Payment:
    """A card payment of 119.00."""
    return paid_by_card(invoice, stripe)


def look_later(account: ProviderAccount) -> ProviderAccount:
    """Let time pass until the next look."""
    ProviderAccount.objects.filter(pk=account.pk).update(look_at=now())
    work(account)
    account.refresh_from_db()
    return account


def calls_of(stripe: RunningStripe, name: str) -> int:
    return sum(one["call"] == name for one in stripe.control("ledger")["calls"])


def press_renew(browser: Client) -> Any:
    return browser.post(RENEW, {"acting_for": ""}, follow=True)


def test_what_happened_at_stripe_is_recorded_though_every_webhook_is_lost(
    payment: Payment, account: ProviderAccount, stripe: RunningStripe
) -> None:
    stripe.control("refund", payment_intent=payment.provider_id, amount=1_900)
    dispute = stripe.control("dispute", payment_intent=payment.provider_id, amount=10_000)
    stripe.control("take")
    before = look_later(account).looked_until
    assert before
    work(account)
    assert (Refund.objects.get().status, Dispute.objects.get().withdrawn) == ("succeeded", True)
    assert Invoice.objects.get(pk=payment.invoice_id).paid == 0
    stripe.control("close_dispute", dispute=dispute["id"], won=True)
    for event in stripe.control("take")[:1]:
        assert post_event(event).status_code == 200  # one of two arrives, and is listed as well
    account = look_later(account)
    work(account)
    assert (Dispute.objects.get().status, Invoice.objects.get(pk=payment.invoice_id).paid) == ("won", 10_000)
    assert account.looked_until
    assert account.looked_until > before
    known = ProviderEvent.objects.count()
    look_later(account)
    assert ProviderEvent.objects.count() == known


def test_two_thousand_events_hold_up_nobody(
    a: Tenant, b: Tenant, account: ProviderAccount, stripe: RunningStripe
) -> None:
    """A turn reads some pages and ends; the look goes on where it ended, and waits while many events wait."""
    other = connected(b.workspace, "rk_test_other_1")
    work(account)
    stripe.control("flood", key=KEY, number=2_000)
    account.refresh_from_db()
    before = account.looked_until
    ProviderAccount.objects.filter(pk=account.pk).update(look_at=now())
    with CaptureQueriesContext(connection) as queries:
        assert take_turn(account.pk)
    assert calls_of(stripe, "list_events") == 1 + MOST_PAGES
    assert ProviderEvent.objects.count() == MOST_PAGES * 100
    assert len(queries) <= 45

    work(other)
    other.refresh_from_db()
    assert other.look_at
    assert other.look_at > now() + LOOK_EVERY / 2

    for _ in range(5):
        ProviderAccount.objects.filter(pk=account.pk).update(look_at=now())
        assert take_turn(account.pk)
    account.refresh_from_db()
    assert ProviderEvent.objects.filter(due_at__isnull=False).count() <= MOST_WAITING
    assert account.looked_until == before
    while account.look_cursor:
        ProviderEvent.objects.update(due_at=None, handled_at=now())
        look_later(account)
    assert ProviderEvent.objects.count() == 2_000
    assert account.looked_until
    assert before
    assert account.looked_until > before


def test_a_key_that_may_not_read_events_says_so_and_takes_payments(
    a: Tenant, owner_browser: Client, account: ProviderAccount, payment: Payment, stripe: RunningStripe
) -> None:
    stripe.control("key", key=KEY, lacking=["list_events"])
    stripe.control("refund", payment_intent=payment.provider_id, amount=1_900)
    stripe.control("take")
    account = look_later(account)
    assert account.look_failure == "permission_missing"
    assert account.look_at
    assert account.look_at > now() + LOOK_EVERY - timedelta(minutes=5)
    assert accepts_payments(a.workspace)
    assert "add the permission Events: Read" in text(owner_browser.get(PAGE))
    stripe.control("key", key=KEY, lacking=[])
    owner_browser.post(PAGE, {"key": KEY, "acting_for": ""}, follow=True)
    work(account)
    work(account)
    assert Refund.objects.get().amount == 1_900
    assert "add the permission" not in text(owner_browser.get(PAGE))


def test_a_look_does_not_end_a_stop_for_another_permission(
    a: Tenant, account: ProviderAccount, stripe: RunningStripe
) -> None:
    for failure, takes_payments in (("permission_missing", False), ("key_refused", True)):
        ProviderAccount.objects.update(failure=failure)
        look_later(account)
        assert accepts_payments(a.workspace) == takes_payments, failure


@pytest.mark.parametrize("change", [{"deleted": True}, {"status": "disabled"}])
def test_a_webhook_endpoint_that_is_gone_is_made_anew_by_one_button(
    owner_browser: Client, account: ProviderAccount, payment: Payment, stripe: RunningStripe, change: dict[str, Any]
) -> None:
    assert "Set up webhooks again" not in text(owner_browser.get(PAGE))
    stripe.control("endpoint", endpoint=account.endpoint_id, **change)
    stripe.control("refund", payment_intent=payment.provider_id, amount=1_900)
    assert stripe.control("take") == []
    for _ in range(2):
        account = look_later(account)
    assert account.look_at
    assert account.look_at < now() + timedelta(minutes=20)
    assert NotificationEvent.objects.filter(kind="workspace.payment_webhooks_missing").count() == 1
    assert "Set up webhooks again" in text(owner_browser.get(PAGE))

    stripe.control("refund", payment_intent=payment.provider_id, amount=200)
    stripe.control("fault", call="create_endpoint", kind="close", times=3, after=True)  # the answer is lost
    assert "did not answer" in text(press_renew(owner_browser))
    assert press_renew(owner_browser).status_code == 200
    press_renew(owner_browser)
    old, account = account, ProviderAccount.objects.get()
    [endpoint] = stripe.control("ledger")["endpoints"]
    assert (account.endpoint_id, account.webhook_secret) == (endpoint["id"], endpoint["secret"])
    assert account.webhook_secret != old.webhook_secret
    assert "Set up webhooks again" not in text(owner_browser.get(PAGE))
    for _ in range(2):
        work(account)
    assert set(Refund.objects.values_list("amount", flat=True)) == {1_900, 200}
    stripe.control("refund", payment_intent=payment.provider_id, amount=100)
    [event] = stripe.control("take")
    assert post_event(event).status_code == 200
    done = set(ActivityEntry.objects.values_list("action", flat=True))
    assert {"payment_account.webhooks_stopped", "payment_account.webhooks_renewed"} <= done


def test_an_endpoint_with_an_old_address_or_too_few_kinds_is_updated(
    account: ProviderAccount, stripe: RunningStripe
) -> None:
    [made] = stripe.control("ledger")["endpoints"]
    stripe.control("endpoint", endpoint=account.endpoint_id, url="http://old.example/x", enabled_events=["x"])
    look_later(account)
    assert stripe.control("ledger")["endpoints"] == [made]
    look_later(account)
    assert calls_of(stripe, "update_endpoint") == 1


def test_a_key_of_the_account_is_known_though_the_endpoint_is_gone(
    owner_browser: Client, account: ProviderAccount, stripe: RunningStripe
) -> None:
    stripe.control("endpoint", endpoint=account.endpoint_id, deleted=True)
    for key, message in (("rk_test_other_99", "belongs to another account"), ("rk_test_demo_5678", "is connected")):
        assert message in text(owner_browser.post(PAGE, {"key": key, "acting_for": ""}, follow=True))


def test_events_that_were_given_up_are_handled_once_stripe_answers(
    payment: Payment, account: ProviderAccount, stripe: RunningStripe
) -> None:
    """Such as while the key was refused for days. Those that can never be handled are left alone."""
    stripe.control("refund", payment_intent=payment.provider_id, amount=1_900)
    stripe.control("take")
    look_later(account)
    ends = {"due_at": None, "handled_at": None}
    for failure, expected in (("refused", 0), ("broke_off", 0), ("key_refused", 1)):
        Refund.objects.all().delete()
        ProviderEvent.objects.filter(kind="refund.created").update(failure=failure, tries=20, **ends)
        look_later(account)
        work(account)
        assert Refund.objects.count() == expected, failure


def test_a_page_too_long_to_be_read_is_asked_for_in_pieces(account: ProviderAccount, stripe: RunningStripe) -> None:
    work(account)
    stripe.control("flood", key=KEY, number=25)
    stripe.control("fault", call="list_events", kind="huge", times=1)
    look_later(account)
    assert ProviderEvent.objects.count() == 25


def test_after_months_without_a_look_refunds_and_disputes_themselves_are_listed(
    payment: Payment, account: ProviderAccount, stripe: RunningStripe
) -> None:
    """Stripe keeps events for thirty days."""
    known = stripe.control("dispute", payment_intent=payment.provider_id, amount=4_000, ago=100 * 24 * 3_600)
    work(look_later(account))
    assert Dispute.objects.get().withdrawn
    stripe.control("close_dispute", dispute=known["id"], won=True)
    for _ in range(12):
        stripe.control("refund", payment_intent=payment.provider_id, amount=100)
    stripe.control("dispute", payment_intent=payment.provider_id, amount=1_000)
    stripe.control("forget_events")
    work(look_later(account))
    assert Refund.objects.count() == 0
    ProviderAccount.objects.update(looked_until=now() - timedelta(days=60))
    stripe.control("fault", call="list_refunds", kind="huge", times=1)  # so that the list has several pages
    look_later(account)
    for _ in range(2):
        work(account)
    assert Refund.objects.count() == 12
    assert set(Dispute.objects.values_list("status", "amount")) == {("won", 4_000), ("needs_response", 1_000)}
    assert Invoice.objects.get(pk=payment.invoice_id).paid == 11_900 - 1_200 - 1_000
    assert look_later(account).look_cursor == ""


def test_an_event_that_is_listed_late_is_found(account: ProviderAccount, stripe: RunningStripe) -> None:
    work(account)
    stripe.control("flood", key=KEY, number=1, ago=3_600)
    look_later(account)
    assert ProviderEvent.objects.count() == 1


def test_a_look_stores_nothing_for_an_account_that_was_disconnected_meanwhile(
    account: ProviderAccount, stripe: RunningStripe
) -> None:
    """Its events would be due for ever."""

    class Interrupted(Stripe):
        def listed(self, name: str, **options: Any) -> EventPage:
            disconnect_account(account=ProviderAccount.objects.get(), now=now(), by=SYSTEM)
            return super().listed(name, **options)

    stripe.control("flood", key=KEY, number=1)
    look_for_events(Interrupted(KEY), account)
    assert not ProviderEvent.objects.exists()
    assert ProviderAccount.objects.get().look_at is None


def test_a_look_whose_place_is_gone_begins_again(account: ProviderAccount, stripe: RunningStripe) -> None:
    """Stripe has forgotten the event meanwhile."""
    work(account)
    stripe.control("flood", key=KEY, number=5)
    ProviderAccount.objects.update(look_at=now(), look_began_at=now(), look_cursor="events:evt_forgotten")
    assert not take_turn(account.pk)
    make_due()
    work(account)
    assert ProviderEvent.objects.count() == 5


def test_a_slow_look_goes_on_in_the_next_turn(
    account: ProviderAccount, stripe: RunningStripe, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(provider_events, "LOOK_SECONDS", -1.0)
        assert look_later(account).look_began_at
    assert calls_of(stripe, "list_events") == 0
    work(account)
    account.refresh_from_db()
    assert (account.look_began_at, calls_of(stripe, "read_endpoint")) == (None, 1)


def test_stripe_lists_no_more_kinds_at_once() -> None:
    assert len(EVENTS) <= 20


def gauge(name: str) -> Any:
    found = METRICS.get(name)
    assert isinstance(found, Gauge)
    assert found.read
    return found.read()


def test_metrics_say_what_waits_and_which_accounts_fail(
    b: Tenant, account: ProviderAccount, stripe: RunningStripe
) -> None:
    work(account)
    connected(b.workspace, "rk_test_other_1")
    stripe.control("flood", key=KEY, number=3)
    look_later(account)
    assert (gauge("payment_accounts"), gauge("payment_events_waiting")) == (2, 3)
    assert gauge("payment_accounts_failing") == {"key": 0, "webhooks": 0, "events": 0}
    ours = ProviderAccount.objects.filter(pk=account.pk)
    ProviderEvent.objects.update(due_at=now() - timedelta(hours=1))
    assert 3_500 < gauge("payment_work_due_oldest_seconds") < 3_700
    ProviderEvent.objects.update(due_at=now())
    ours.update(look_at=now() - timedelta(hours=1))
    assert 3_500 < gauge("payment_work_due_oldest_seconds") < 3_700
    failing = {"failure": "key_refused", "endpoint_failure": "gone", "look_failure": "permission_missing"}
    ours.update(**failing)
    assert gauge("payment_accounts_failing") == {"key": 1, "webhooks": 1, "events": 1}
    assert gauge("payment_work_due_oldest_seconds") < 60
