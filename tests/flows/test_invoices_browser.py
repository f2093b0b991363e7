"""In a real browser, by keyboard alone: an invoice from its draft to its payment."""

from collections.abc import Iterator

import pytest
from django.utils.timezone import now
from playwright.sync_api import Browser, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from agency.actors import SYSTEM
from tests.factories import ContactFactory, WorkspaceFactory
from tests.factories.finance import TaxRateFactory
from tests.flows.sessions import give_session
from workspaces.finance.models import Invoice
from workspaces.finance.services.settings import change_finance_settings
from workspaces.subaccounts.models import Workspace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def workspace(transactional_db: None) -> Workspace:
    made: Workspace = WorkspaceFactory.create()
    Workspace.objects.filter(pk=made.pk).update(currency="EUR")
    ContactFactory.create(workspace=made, name="Ada Lovelace", email="ada@example.com")
    TaxRateFactory.create(workspace=made, name="VAT")
    change_finance_settings(workspace=made, business_name="Salon GmbH", now=now(), by=SYSTEM)
    return made


@pytest.fixture
def page(browser: Browser, live_server: LiveServer, workspace: Workspace) -> Iterator[Page]:
    """The owner's page; its complaints fail the story."""
    complaints: list[str] = []
    context = browser.new_context(base_url=live_server.url)
    give_session(context, workspace.owner, live_server.url)
    opened = context.new_page()
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    assert complaints == []


def press(page: Page, target: Locator, key: str = "Enter", *, most: int = 60) -> None:
    """Tab to an element and press a key there."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if target.evaluate("element => element === document.activeElement"):
            page.keyboard.press(key)
            return
    raise AssertionError(f"no way by keyboard to {target}")


def fill(page: Page, label: str, text: str) -> None:
    field = page.get_by_label(label, exact=True)
    press(page, field, "Control+a")
    page.keyboard.type(text)


def test_an_invoice_is_drafted_issued_sent_and_paid_by_keyboard(page: Page, workspace: Workspace) -> None:
    page.goto("/app/invoices")
    press(page, page.locator("main").get_by_role("link", name="New invoice").first)
    fill(page, "Find a contact (optional)", "lovelace")
    press(page, page.get_by_role("button", name="Find", exact=True))
    expect(page.get_by_role("radio", name="Ada Lovelace")).to_be_visible()
    press(page, page.get_by_role("radio", name="Ada Lovelace"), "Space")
    fill(page, "Description", "Haircut")
    fill(page, "Price in EUR", "50")
    page.keyboard.press("Enter")  # computes the totals, and saves nothing
    expect(page.get_by_text("€59.50")).to_be_visible()
    assert not Invoice.objects.exists()
    press(page, page.get_by_role("button", name="Save the draft"))
    expect(page.get_by_text("This is a draft")).to_be_visible()
    press(page, page.get_by_role("link", name="Issue"))
    press(page, page.get_by_role("button", name="Issue"))
    expect(page.get_by_role("heading", name="INV-0001")).to_be_visible()
    press(page, page.get_by_role("link", name="Send"))
    expect(page.get_by_text("ada@example.com gets an e-mail")).to_be_visible()
    press(page, page.get_by_role("button", name="Send"))
    expect(page.get_by_role("link", name="Send again")).to_be_visible()
    press(page, page.get_by_role("link", name="Record payment"))
    expect(page.get_by_label("Amount in EUR")).to_have_value("59.50")
    press(page, page.get_by_role("button", name="Record payment"))
    expect(page.get_by_text("Paid in full")).to_be_visible()
    invoice = Invoice.objects.get()
    assert (invoice.workspace, invoice.number, invoice.status, invoice.paid) == (workspace, "INV-0001", "paid", 5950)
    assert invoice.sent_at is not None
