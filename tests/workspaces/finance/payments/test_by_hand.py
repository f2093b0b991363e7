"""Payments and refunds that people enter, through the API."""

from typing import Any

import pytest

from tests import furnished
from tests.factories.finance import a_line, an_issued_invoice
from tests.tenants import Tenant, message
from tests.workspaces.finance.payments.paying import a_draft, an_invoice, paid_by_card, pay_at_stripe, press_pay
from tools.sandbox.stripe.server import RunningStripe
from workspaces.finance.models import Checkout, Invoice, Payment, ProviderAccount, Refund

pytestmark = pytest.mark.django_db
a, b = furnished.a_with_customer, furnished.b_with_customer


def pay(tenant: Tenant, invoice: Invoice, amount: float, method: str = "cash", **more: Any) -> Any:
    body = {"amount": amount, "method": method, **more}
    return tenant.workspace_api.post(f"/invoices/{invoice.uuid}/payments", body)


def refund(tenant: Tenant, payment: str, amount: float, **more: Any) -> Any:
    return tenant.workspace_api.post(f"/payments/{payment}/refunds", {"amount": amount, **more})


def test_payments_add_up_to_what_is_owed(a: Tenant) -> None:
    invoice = an_invoice(a)
    first = pay(a, invoice, 19.0, "bank_transfer", note="Statement 3", received_at="2026-11-02T09:00:00Z")
    assert first.status_code == 201
    data = first.json()["data"]
    assert data["invoice"] == {"id": str(invoice.uuid), "number": invoice.number}
    assert (data["amount"], data["currency"], data["status"], data["refunded"]) == (
        19.0,
        invoice.currency,
        "received",
        0.0,
    )
    invoice.refresh_from_db()
    assert (invoice.status, invoice.paid, invoice.balance) == ("open", 1_900, 10_000)
    assert pay(a, invoice, 100.0).status_code == 201
    invoice.refresh_from_db()
    assert (invoice.status, invoice.balance) == ("paid", 0)
    listed = a.workspace_api.get(f"/invoices/{invoice.uuid}/payments").json()["data"]
    assert [one["method"] for one in listed] == ["bank_transfer", "cash"]


IMPOSSIBLE: tuple[tuple[dict[str, Any], str], ...] = (
    ({"amount": 119.01, "method": "cash"}, "amount"),
    ({"amount": 0, "method": "cash"}, "amount"),
    ({"amount": 1.005, "method": "cash"}, "amount"),
    ({"amount": 1, "method": "stripe"}, "method"),
    ({"amount": 1, "method": "cash", "received_at": "2100-01-01T00:00:00Z"}, "received_at"),
)


def test_what_cannot_be_is_refused(a: Tenant) -> None:
    path = f"/invoices/{an_invoice(a).uuid}/payments"
    for body, field in IMPOSSIBLE:
        answer = a.workspace_api.post(path, body)
        assert answer.status_code == 422, body
        assert list(answer.json()["errors"]) == [field], body
    assert not Payment.objects.exists()


def test_a_draft_and_a_void_invoice_take_no_payment(a: Tenant) -> None:
    assert pay(a, a_draft(a), 1.0).status_code == 409
    invoice = an_invoice(a)
    assert a.workspace_api.post(f"/invoices/{invoice.uuid}/void").status_code == 200
    assert pay(a, invoice, 1.0).status_code == 409


def test_another_workspaces_invoice_and_payment_are_not_found(a: Tenant, b: Tenant) -> None:
    theirs = an_invoice(b)
    made = pay(b, theirs, 1.0).json()["data"]["id"]
    assert pay(a, theirs, 1.0).status_code == 404
    assert refund(a, made, 1.0).status_code == 404
    assert a.workspace_api.get(f"/payments/{made}/refunds").status_code == 404


def test_amounts_without_decimals(a: Tenant) -> None:
    a.workspace.currency = "JPY"
    a.workspace.save()
    invoice = an_issued_invoice(a.workspace, lines=[a_line("500")])
    assert pay(a, invoice, 0.5).status_code == 422
    assert pay(a, invoice, 500).json()["data"]["amount"] == 500.0


def test_refunds_by_hand_are_done_at_once_and_never_more_than_was_paid(a: Tenant) -> None:
    invoice = an_invoice(a)
    payment = pay(a, invoice, 119.0).json()["data"]["id"]
    done = refund(a, payment, 19.0, reason="Two hours were not used.")
    assert done.status_code == 201
    assert done.json()["data"]["status"] == "succeeded"
    assert refund(a, payment, 100.01).status_code == 422
    assert refund(a, payment, 1.0, method="stripe").status_code == 422
    assert refund(a, payment, 100.0, method="bank_transfer").status_code == 201
    assert refund(a, payment, 0.01).status_code == 422
    invoice.refresh_from_db()
    assert (invoice.status, invoice.paid) == ("paid", 0)  # a refund opens no invoice again
    [shown] = a.workspace_api.get(f"/invoices/{invoice.uuid}/payments").json()["data"]
    assert (shown["status"], shown["refunded"]) == ("refunded", 119.0)
    listed = a.workspace_api.get(f"/payments/{payment}/refunds").json()["data"]
    assert [one["method"] for one in listed] == ["cash", "bank_transfer"]


def test_a_repeated_request_pays_once(a: Tenant) -> None:
    invoice = an_invoice(a)
    path, body = f"/invoices/{invoice.uuid}/payments", {"amount": 19.0, "method": "cash"}
    answers = [a.workspace_api.post(path, body, Idempotency_Key="once") for _ in range(2)]
    assert answers[0].content == answers[1].content
    assert Payment.objects.count() == 1


# Beside the provider ------------------------------------------------------------------------------


def test_paying_by_hand_closes_the_payment_page_first(a: Tenant, invoice: Invoice, stripe: RunningStripe) -> None:
    opened = press_pay(invoice)
    assert pay(a, invoice, 119.0).status_code == 201
    assert Checkout.objects.get().status == "expired"
    assert pay_at_stripe(opened) == ""  # the page at Stripe has ended
    assert [one["status"] for one in stripe.control("ledger")["sessions"]] == ["expired"]


def test_paying_by_hand_is_refused_while_a_debit_is_on_its_way(
    a: Tenant, invoice: Invoice, stripe: RunningStripe
) -> None:
    pay_at_stripe(press_pay(invoice), "delay")
    refused = pay(a, invoice, 119.0)
    assert refused.status_code == 409
    assert message(refused) == "A payment of this invoice is being processed."


def test_whoever_has_just_paid_by_card_is_recorded_instead(a: Tenant, invoice: Invoice, stripe: RunningStripe) -> None:
    pay_at_stripe(press_pay(invoice))
    assert pay(a, invoice, 119.0).status_code == 422  # nothing is owed any more
    assert Payment.objects.get().method == "stripe"


def test_paying_by_hand_waits_for_a_page_that_cannot_be_closed(
    a: Tenant, invoice: Invoice, stripe: RunningStripe
) -> None:
    press_pay(invoice)
    stripe.control("fault", call="expire_session", kind="500", times=None)
    assert pay(a, invoice, 119.0).status_code == 409
    assert not Payment.objects.exists()


def test_a_refund_by_hand_of_a_card_payment_calls_nobody(
    a: Tenant, invoice: Invoice, account: ProviderAccount, stripe: RunningStripe
) -> None:
    payment = paid_by_card(invoice, stripe)
    assert refund(a, str(payment.uuid), 19.0, method="cash").status_code == 201
    assert Refund.objects.get().status == "succeeded"
    assert not stripe.control("ledger")["refunds"]


@pytest.mark.parametrize("action", ["void", "credit"])
def test_voiding_and_crediting_close_the_payment_page_first(
    a: Tenant, invoice: Invoice, stripe: RunningStripe, action: str
) -> None:
    opened = press_pay(invoice)
    assert a.workspace_api.post(f"/invoices/{invoice.uuid}/{action}").status_code in {200, 201}
    assert pay_at_stripe(opened) == ""
    invoice.refresh_from_db()
    assert invoice.status == "void"


def test_an_invoice_that_was_just_paid_is_not_voided(a: Tenant, invoice: Invoice, stripe: RunningStripe) -> None:
    pay_at_stripe(press_pay(invoice))
    assert a.workspace_api.post(f"/invoices/{invoice.uuid}/void").status_code == 409
    invoice.refresh_from_db()
    assert invoice.status == "paid"
