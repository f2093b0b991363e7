"""In a real browser, by keyboard alone: an invoice from its draft to its payment."""

from collections.abc import Iterator

import pytest
from django.utils.timezone import now
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from agency.actors import SYSTEM
from tests.factories import ContactFactory, WorkspaceFactory
from tests.factories.finance import TaxRateFactory
from tests.flows.sessions import give_session
from tests.flows.tasks.keyboard import PersonAtTheKeyboard
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
    context = browser.new_context(base_url=live_server.url, reduced_motion="reduce")
    give_session(context, workspace.owner, live_server.url)
    opened = context.new_page()
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    context.close()
    assert complaints == []


def test_an_invoice_is_drafted_issued_sent_and_paid_by_keyboard(page: Page, workspace: Workspace) -> None:
    person = PersonAtTheKeyboard(page, home="/app/invoices")
    person.begin()
    person.click("link", "New invoice")
    person.fill("Find a contact", "lovelace")
    person.click("button", "Find")
    only_one = page.get_by_label("Ada Lovelace")
    expect(only_one).to_be_checked()
    expect(only_one).to_be_focused()
    person.fill("Description", "Haircut")
    person.fill("Price in EUR", "50")
    page.keyboard.press("Enter")  # computes the totals, and saves nothing
    expect(page.get_by_text("€59.50")).to_be_visible()
    assert not Invoice.objects.exists()
    person.click("button", "Save the draft")
    expect(page.get_by_text("This is a draft")).to_be_visible()
    person.click("link", "Issue")
    person.click("button", "Issue")
    person.sees_heading("INV-0001")
    person.click("link", "Send")
    expect(page.get_by_text("ada@example.com gets an e-mail")).to_be_visible()
    person.click("button", "Send")
    expect(page.get_by_role("link", name="Send again")).to_be_visible()
    person.click("link", "Record payment")
    expect(page.get_by_label("Amount in EUR")).to_have_value("59.50")
    person.click("button", "Record payment")
    expect(page.get_by_text("Paid in full")).to_be_visible()
    invoice = Invoice.objects.get()
    assert (invoice.workspace, invoice.number, invoice.status, invoice.paid) == (workspace, "INV-0001", "paid", 5950)
    assert invoice.sent_at is not None
