"""Invoices to be paid, and what payers, people at Stripe and Stripe itself do."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import requests
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests.factories.finance import InvoiceFactory, a_line, an_issued_invoice
from tests.tenants import Tenant, an_address
from tools.sandbox.stripe.server import RunningStripe
from workspaces.finance.models import Invoice, Payment, ProviderAccount
from workspaces.finance.services.connecting import connect_account
from workspaces.finance.services.provider_work import KINDS, take_turn
from workspaces.subaccounts.models import Workspace

KEY = "rk_test_demo_1234"
SECONDS = 20
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


def connected(workspace: Workspace, key: str = KEY) -> ProviderAccount:
    return connect_account(workspace=workspace, key=key, now=now(), by=SYSTEM)


def a_draft(tenant: Tenant) -> Invoice:
    return InvoiceFactory.create(workspace=tenant.workspace)


def an_invoice(tenant: Tenant, price: str = "119") -> Invoice:
    """An issued invoice."""
    return an_issued_invoice(tenant.workspace, lines=[a_line(price)])


def a_payer() -> Client:
    return Client(enforce_csrf_checks=True, REMOTE_ADDR=an_address())


def pay_path(invoice: Invoice) -> str:
    address = invoice.pay_url
    assert address
    return urlsplit(address).path


def press_pay(invoice: Invoice, payer: Client | None = None) -> Any:
    """Open the pay page and press its button."""
    payer = payer or a_payer()
    page = payer.get(pay_path(invoice))
    token = TOKEN.search(page.content.decode())
    assert token, page.content.decode()
    return payer.post(f"{pay_path(invoice)}/checkout", {"csrfmiddlewaretoken": token[1]})


def pay_at_stripe(answer: Any, decision: str = "pay") -> str:
    """Press a button of the provider's page; gives the path that the browser comes back to, if it leaves."""
    assert answer.status_code == 303, answer.content
    left = requests.post(answer["Location"], data={"decision": decision}, allow_redirects=False, timeout=SECONDS)
    return urlsplit(left.headers.get("Location", "")).path


def post_event(event: dict[str, str], **changes: str) -> Any:
    """Post an event as Stripe does."""
    told = {**event, **changes}
    return Client(REMOTE_ADDR=an_address()).post(
        urlsplit(told["url"]).path,
        told["body"].encode(),
        content_type="application/json",
        headers={"Stripe-Signature": told["signature"]},
    )


def deliver(stripe: RunningStripe) -> int:
    """Post all events that wait at the stand-in; gives their number."""
    events = stripe.control("take")
    for event in events:
        assert post_event(event).status_code == 200
    return len(events)


def work(account: ProviderAccount) -> None:
    """Let the task do all of the account's due work, in this thread."""
    assert take_turn(account.pk)


def make_due() -> None:
    """Let time pass until every row that waits is due."""
    for kind in KINDS:
        waiting = kind.rows(now() + timedelta(days=400)).values_list("pk", flat=True)
        kind.rows(now() + timedelta(days=400)).model.objects.filter(pk__in=list(waiting)).update(**{kind.due: now()})


def paid_by_card(invoice: Invoice, stripe: RunningStripe) -> Payment:
    """Pay an invoice at Stripe, and let the event arrive."""
    pay_at_stripe(press_pay(invoice))
    deliver(stripe)
    account = ProviderAccount.objects.get(disconnected_at=None, workspace=invoice.workspace)
    work(account)
    return Payment.objects.select_related("invoice__workspace").get(invoice=invoice, account=account)
