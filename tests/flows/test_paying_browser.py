"""A payer pays an invoice in a real browser: from the link over Stripe's page to the page that says Paid."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from agency.actors import SYSTEM
from agency.services import set_accent
from tests.factories.finance import a_line, an_issued_invoice
from tests.flows.every_page.checks import OPTIONS, examine
from tests.flows.every_page.extremes import ENDLESS
from tests.tenants import Tenant
from tests.waiting import until
from tests.workspaces.finance.payments.paying import connected
from tools.sandbox.stripe.server import RunningStripe, open_stripe
from workspaces.finance.models import Invoice, ProviderEvent
from workspaces.finance.services.invoices import LineInput
from workspaces.finance.services.provider_work import call_providers

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def stripe(live_server: LiveServer, settings: Any) -> Iterator[RunningStripe]:
    """A stand-in for Stripe that posts its events to the product."""
    settings.PUBLIC_URL = live_server.url
    with open_stripe() as running:
        settings.STRIPE_API_URL = running.url
        yield running


def an_open_invoice(tenant: Tenant) -> str:
    """Give the address of an invoice's pay page."""
    connected(tenant.workspace)
    invoice = an_issued_invoice(tenant.workspace, lines=[a_line("119"), a_line("0.10")])
    assert invoice.pay_url
    return invoice.pay_url


def pay(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("button", name="Pay $119.10").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Pay at the sandbox")
    page.get_by_role("button", name="Try a card that is declined").click()
    expect(page.get_by_text("Your card was declined.")).to_be_visible()
    page.get_by_role("button", name="Pay", exact=True).click()
    expect(page.get_by_text("no confirmation of your payment yet")).to_be_visible()


@pytest.mark.usefixtures("stripe")
def test_a_payer_without_scripts_pays_and_sees_it(browser: Browser) -> None:
    tenant = Tenant()
    address = an_open_invoice(tenant)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    try:
        pay(page, address)
        until(lambda: ProviderEvent.objects.exists(), what="the provider's event")
        call_providers(seconds=20)
        page.get_by_role("link", name="Reload").click()
        expect(page.get_by_text("Nothing is owed any more.")).to_be_visible()
    finally:
        context.close()
    assert Invoice.objects.get().status == "paid"


@pytest.mark.usefixtures("stripe")
def test_the_pay_page_fits_every_screen(browser: Browser) -> None:
    tenant = Tenant()
    set_accent(agency=tenant.agency, accent="#0a7d4f", by=SYSTEM)
    address = an_open_invoice(tenant)
    endless = LineInput(ENDLESS[:500], Decimal(1), Decimal("99999999.99"))
    long = an_issued_invoice(tenant.workspace, lines=[endless])
    page = browser.new_page(**OPTIONS)
    found: list[str] = []
    try:
        for one in (address, str(long.pay_url), f"{address}/done", f"{address}x"):
            page.goto(one)
            found += examine(page)
    finally:
        page.close()
    assert found == []
