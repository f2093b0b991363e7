"""The owner connects the account at Stripe, gives it another key, and disconnects it."""

import json
from typing import Any

import pytest
from django.test import Client

from agency.models import ActivityEntry
from tests import furnished
from tests.agency.console.browsers import a_browser, text
from tests.factories import WorkspaceMemberFactory
from tests.tenants import Tenant
from tests.workspaces.finance.payments.paying import KEY, an_invoice, deliver, pay_at_stripe, press_pay
from tools.sandbox.stripe.server import RunningStripe
from workspaces.finance.models import Checkout, Invoice, ProviderAccount
from workspaces.finance.services.accounts import accepts_payments
from workspaces.finance.services.provider_work import take_turn

pytestmark = pytest.mark.django_db
a = furnished.a_with_customer
PAGE = "/app/payment-account"


@pytest.fixture
def owner_browser(a: Tenant) -> Client:
    return a_browser(a.workspace.owner)


def enter(browser: Client, key: str) -> Any:
    return browser.post(PAGE, {"key": key, "acting_for": ""}, follow=True)


def test_a_key_is_checked_kept_encrypted_and_never_shown(
    a: Tenant, owner_browser: Client, stripe: RunningStripe
) -> None:
    assert not accepts_payments(a.workspace)
    page = enter(owner_browser, f" {KEY} ")
    assert page.status_code == 200, text(page)
    account = ProviderAccount.objects.get()
    assert (account.key, account.live, account.account_id, account.name) == (KEY, False, "acct_demo", "Demo Ltd")
    [endpoint] = stripe.control("ledger")["endpoints"]
    assert endpoint["url"] == f"http://testserver/pay/stripe/{account.uuid}"
    assert account.webhook_secret == endpoint["secret"]
    assert accepts_payments(a.workspace)
    shown = owner_browser.get(PAGE).content.decode()
    assert "rk_test_…1234" in shown
    assert "Test mode" in shown
    entries = json.dumps(list(ActivityEntry.objects.values_list("details", flat=True)))
    assert KEY not in shown + entries
    assert endpoint["secret"] not in shown + entries


WRONG_KEYS = {
    "pk_test_1234567": "not a restricted key",
    "rk_test_ü": "not a restricted key",
    "rk_test_refused1": "Stripe refuses this key",
}


@pytest.mark.usefixtures("stripe")
def test_a_wrong_key_connects_nothing(owner_browser: Client) -> None:
    for key, reason in WRONG_KEYS.items():
        page = enter(owner_browser, key)
        assert reason in text(page), key
        assert key not in page.content.decode(), key
    assert not ProviderAccount.objects.exists()


def test_a_key_without_a_permission_connects_nothing(owner_browser: Client, stripe: RunningStripe) -> None:
    stripe.control("key", key=KEY, lacking=["create_endpoint"])
    assert "lacks a permission" in text(enter(owner_browser, KEY))
    assert not ProviderAccount.objects.exists()
    stripe.control("key", key=KEY, lacking=["account"])  # the account's name is only for show
    enter(owner_browser, KEY)
    assert ProviderAccount.objects.get().name == ""


def test_an_answer_that_is_lost_leaves_one_endpoint(owner_browser: Client, stripe: RunningStripe) -> None:
    stripe.control("fault", call="create_endpoint", kind="close", times=1, after=True)
    enter(owner_browser, KEY)
    assert len(stripe.control("ledger")["endpoints"]) == 1
    assert ProviderAccount.objects.get().failure == ""


def test_another_key_of_the_same_account_takes_over(
    owner_browser: Client, account: ProviderAccount, stripe: RunningStripe
) -> None:
    stripe.control("key", key=KEY, revoked=True)
    ProviderAccount.objects.update(failure="key_refused")
    assert "Stripe refuses the key" in text(owner_browser.get(PAGE))
    assert "belongs to another account" in text(enter(owner_browser, "rk_test_other_99"))
    enter(owner_browser, "rk_test_demo_5678")
    account = ProviderAccount.objects.get()
    assert (account.key, account.failure) == ("rk_test_demo_5678", "")
    assert len(stripe.control("ledger")["endpoints"]) == 1


def test_disconnecting_forgets_the_key_and_closes_what_is_open(
    a: Tenant, owner_browser: Client, account: ProviderAccount, invoice: Invoice, stripe: RunningStripe
) -> None:
    opened = press_pay(invoice)
    assert owner_browser.post(f"{PAGE}/disconnect", {"acting_for": ""}, follow=True).status_code == 200
    account.refresh_from_db()
    assert (account.key, account.webhook_secret, account.disconnected_at is None) == (None, None, False)
    assert stripe.control("ledger")["endpoints"] == []
    assert Checkout.objects.get().status == "expired"
    assert pay_at_stripe(opened) == ""
    enter(owner_browser, KEY)
    assert accepts_payments(a.workspace)


def test_disconnecting_waits_for_a_debit_that_is_on_its_way(
    owner_browser: Client, invoice: Invoice, stripe: RunningStripe
) -> None:
    pay_at_stripe(press_pay(invoice), "delay")
    page = owner_browser.post(f"{PAGE}/disconnect", {"acting_for": ""}, follow=True)
    assert "being processed" in text(page)
    assert ProviderAccount.objects.get().disconnected_at is None


def test_only_the_owner_enters_keys(a: Tenant, account: ProviderAccount) -> None:
    member = a_browser(WorkspaceMemberFactory.create(workspace=a.workspace).user)
    assert 'name="key"' not in member.get(PAGE).content.decode()
    assert enter(member, KEY).status_code == 403
    assert member.get(f"{PAGE}/disconnect").status_code == 403


def test_a_slow_account_stops_nobody_else(a: Tenant, account: ProviderAccount, stripe: RunningStripe) -> None:
    """An account whose calls fail has one piece of work tried, and rests; the task goes on with others."""
    for invoice in (an_invoice(a), an_invoice(a)):
        pay_at_stripe(press_pay(invoice))
    deliver(stripe)
    before = len(stripe.control("ledger")["calls"])
    stripe.control("fault", call="read_session", kind="429", times=None)
    assert not take_turn(account.pk)
    assert len(stripe.control("ledger")["calls"]) == before + 1
