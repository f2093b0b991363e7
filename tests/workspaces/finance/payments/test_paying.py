"""From the pay page over Stripe back to an invoice that is paid."""

import json
import time
from urllib.parse import urlsplit

import pytest
from django.test import Client

from tests import furnished
from tests.agency.console.browsers import text
from tests.tenants import Tenant, an_address
from tests.workspaces.finance.payments.paying import (
    a_draft,
    a_payer,
    an_invoice,
    deliver,
    make_due,
    pay_at_stripe,
    pay_path,
    post_event,
    press_pay,
    work,
)
from tools.sandbox.stripe.server import RunningStripe
from tools.sandbox.stripe.webhooks import Notice
from workspaces.finance.models import Checkout, Invoice, Payment, ProviderAccount, ProviderEvent

pytestmark = pytest.mark.django_db
a, b = furnished.a_with_customer, furnished.b_with_customer


def shown(invoice: Invoice, ending: str = "") -> str:
    page = a_payer().get(pay_path(invoice) + ending)
    assert page.status_code == 200
    return text(page)


def test_a_card_pays_the_invoice(invoice: Invoice, account: ProviderAccount, stripe: RunningStripe) -> None:
    assert "119.00" in shown(invoice)
    back = pay_at_stripe(press_pay(invoice))
    assert back == f"{pay_path(invoice)}/done"
    assert "no confirmation of your payment yet" in shown(invoice, "/done")  # the address alone proves nothing
    assert not Payment.objects.exists()
    assert deliver(stripe) == 1
    work(account)

    assert "Paid" in shown(invoice, "/done")
    invoice.refresh_from_db()
    payment = Payment.objects.get()
    assert (invoice.status, invoice.paid) == ("paid", 11_900)
    assert (payment.amount, payment.method, payment.fee) == (11_900, "stripe", 203)
    assert Checkout.objects.get().status == "paid"
    [session] = stripe.control("ledger")["sessions"]
    assert session["amount_total"] == 11_900
    assert session["metadata"]["invoice"] == str(invoice.uuid)


def test_looking_changes_nothing_and_tells_nobody(invoice: Invoice, stripe: RunningStripe) -> None:
    before = len(stripe.control("ledger")["calls"])
    for ending in ("", "/done"):
        page = a_payer().get(pay_path(invoice) + ending)
        assert page["Referrer-Policy"] == "no-referrer"
        assert page["X-Robots-Tag"] == "noindex, nofollow"
        assert page["Cache-Control"] == "no-store"
        assert "csrf" not in page.cookies or page.cookies["csrf"]["httponly"]
    assert a_payer().post(f"{pay_path(invoice)}/checkout").status_code == 403
    assert a_payer().get(f"{pay_path(invoice)}/checkout").status_code == 405
    assert not Checkout.objects.exists()
    assert len(stripe.control("ledger")["calls"]) == before


def test_an_unknown_token_and_another_agencys_host_find_nothing(invoice: Invoice, b: Tenant) -> None:
    for path in ("/pay/unknown", "/pay/ünknown", f"/pay/{'x' * 5_000}", f"{pay_path(invoice)}x"):
        assert a_payer().get(path).status_code == 404


def test_two_clicks_lead_to_one_session(invoice: Invoice, stripe: RunningStripe) -> None:
    first, second = press_pay(invoice), press_pay(invoice)
    assert first["Location"] == second["Location"]
    assert len(stripe.control("ledger")["sessions"]) == 1


def test_a_bank_debit_is_shown_as_being_processed_until_it_has_arrived(
    invoice: Invoice, account: ProviderAccount, stripe: RunningStripe
) -> None:
    pay_at_stripe(press_pay(invoice), "delay")
    deliver(stripe)
    work(account)
    assert "Being processed" in shown(invoice)
    assert not Payment.objects.exists()
    checkout = Checkout.objects.get()
    stripe.control("settle", session=checkout.provider_id, succeeds=True)
    deliver(stripe)
    work(account)
    assert "Paid" in shown(invoice)


def test_a_bank_debit_that_fails_lets_the_payer_try_again(
    invoice: Invoice, account: ProviderAccount, stripe: RunningStripe
) -> None:
    pay_at_stripe(press_pay(invoice), "delay")
    deliver(stripe)
    work(account)
    stripe.control("settle", session=Checkout.objects.get().provider_id, succeeds=False)
    deliver(stripe)
    work(account)
    assert Checkout.objects.get().status == "failed"
    assert pay_at_stripe(press_pay(invoice))
    deliver(stripe)
    work(account)
    assert "Paid" in shown(invoice)


def test_lost_events_are_made_up_for_by_asking(
    invoice: Invoice, account: ProviderAccount, stripe: RunningStripe
) -> None:
    pay_at_stripe(press_pay(invoice))
    stripe.control("take")  # and no event ever comes
    make_due()
    work(account)
    assert "Paid" in shown(invoice)
    assert Checkout.objects.get().check_at is None


@pytest.mark.usefixtures("account")
def test_a_payer_is_told_that_stripe_is_away(a: Tenant, stripe: RunningStripe) -> None:
    for number, kind in enumerate(("500", "429", "garbage", "close"), 1):
        invoice = an_invoice(a)
        stripe.control("fault", call="create_session", kind=kind, times=None)
        answer = press_pay(invoice)
        assert answer.status_code == 503, kind
        assert "not available right now" in text(answer), kind
        stripe.control("fault")
        assert press_pay(invoice).status_code == 303, kind
        assert len(stripe.control("ledger")["sessions"]) == number, kind


def test_an_answer_that_is_lost_leads_to_the_same_session(invoice: Invoice, stripe: RunningStripe) -> None:
    stripe.control("fault", call="create_session", kind="close", times=3, after=True)
    assert press_pay(invoice).status_code == 503
    assert Checkout.objects.get().status == "starting"
    assert press_pay(invoice).status_code == 303
    assert len(stripe.control("ledger")["sessions"]) == 1


def test_a_key_that_is_refused_stops_online_payment_and_tells_the_owner(
    invoice: Invoice, account: ProviderAccount, stripe: RunningStripe
) -> None:
    stripe.control("key", key="rk_test_demo_1234", revoked=True)
    assert press_pay(invoice).status_code == 503
    account.refresh_from_db()
    assert account.failure == "key_refused"
    assert "cannot be paid online" in shown(invoice)


def test_a_draft_has_no_page_and_a_void_one_says_so(a: Tenant, account: ProviderAccount, invoice: Invoice) -> None:
    assert a_draft(a).pay_url is None
    Invoice.objects.filter(pk=invoice.pk).update(status="void", voided_at=invoice.issued_at)
    path = f"/pay/{invoice.token}"
    page = a_payer().get(path)
    assert "Cancelled" in text(page)
    assert "csrfmiddlewaretoken" not in page.content.decode()


def test_the_document_can_be_downloaded(invoice: Invoice) -> None:
    page = a_payer().get(f"{pay_path(invoice)}/invoice.pdf")
    assert page["Content-Type"] == "application/pdf"
    assert page.content.startswith(b"%PDF")


# Webhooks -----------------------------------------------------------------------------------------


def an_event(invoice: Invoice, stripe: RunningStripe) -> dict[str, str]:
    pay_at_stripe(press_pay(invoice))
    [event] = stripe.control("take")
    assert isinstance(event, dict)
    return event


def test_an_event_is_stored_once(invoice: Invoice, stripe: RunningStripe) -> None:
    event = an_event(invoice, stripe)
    assert [post_event(event).status_code for _ in range(3)] == [200, 200, 200]
    assert ProviderEvent.objects.count() == 1


def test_only_rightly_signed_events_of_now_are_taken(
    invoice: Invoice, account: ProviderAccount, stripe: RunningStripe
) -> None:
    event, secret = an_event(invoice, stripe), account.webhook_secret
    assert secret
    body = event["body"].encode()
    wrong = [
        Notice("", "whsec_of_another", body).signature(),
        Notice("", secret, body + b" ").signature(),
        Notice("", secret, body).signature(time.time() - 400),
        Notice("", secret, body).signature(time.time() + 400),
        Notice("", secret, body).signature().replace("v1=", "v0="),
        "t=,v1=",
        f"t={'9' * 500},v1=x",
        "v1=" * 600,
        "t=1,t=2,v1=ü",
    ]
    for signature in wrong:
        assert post_event(event, signature=signature).status_code == 400, signature
    assert not ProviderEvent.objects.exists()
    several = Notice("", secret, body).signature() + ",v1=another,v0=x"
    assert post_event(event, signature=several).status_code == 200


def test_events_without_signature_of_unknown_accounts_and_of_great_length_are_refused(
    invoice: Invoice, account: ProviderAccount, stripe: RunningStripe
) -> None:
    path = urlsplit(an_event(invoice, stripe)["url"]).path
    unsigned = Client(REMOTE_ADDR=an_address()).post(path, b"{}", content_type="application/json")
    assert unsigned.status_code == 400
    signed = {"url": path, "signature": "t=1,v1=x"}
    assert post_event({**signed, "url": f"/pay/stripe/{invoice.uuid}", "body": "{}"}).status_code == 404
    assert post_event({**signed, "body": "x" * 600_000}).status_code == 413


def test_odd_bodies_change_nothing(account: ProviderAccount) -> None:
    for body in ("", "[]", "{}", '{"type": "charge.succeeded"}', "[" * 100_000, '{"data": {"object": 1}}'):
        signature = Notice("", account.webhook_secret or "", body.encode()).signature()
        answer = post_event({"url": f"/pay/stripe/{account.uuid}", "body": body, "signature": signature})
        assert answer.status_code == 200, body[:50]
    assert not ProviderEvent.objects.exists()


def test_what_the_account_sells_elsewhere_is_left_alone(
    invoice: Invoice, account: ProviderAccount, stripe: RunningStripe
) -> None:
    """The same account takes other payments, and its refunds and disputes are not of our invoices."""
    event = an_event(invoice, stripe)
    foreign = json.loads(event["body"])
    foreign["id"], foreign["data"]["object"]["client_reference_id"] = "evt_other", "cart-17"
    body = json.dumps(foreign)
    signature = Notice("", account.webhook_secret or "", body.encode()).signature()
    assert post_event({**event, "body": body, "signature": signature}).status_code == 200
    assert not ProviderEvent.objects.exists()
