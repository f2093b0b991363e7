"""Visitors book on a phone without scripts.

One moves and cancels by the link in the e-mail, one pays a deposit, and one waits for a seat in a full class.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.core import mail
from django.utils.timezone import now
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from agency.actors import SYSTEM
from agency.tasks import send_mail
from tests.factories import ContactFactory
from tests.tenants import Tenant
from tests.waiting import until
from tests.workspaces.appointments.public.salons import Salon, a_class, a_salon, the_code
from tests.workspaces.finance.invoices.pdf_text import text_of
from tests.workspaces.finance.payments.paying import connected
from tools.sandbox.stripe.server import RunningStripe, open_stripe
from workspaces.appointments.models import Appointment
from workspaces.appointments.tasks import settle_deposits
from workspaces.catalogue.models import Service
from workspaces.classes.services import add_participant, remove_participant
from workspaces.finance.models import Invoice, ProviderEvent
from workspaces.finance.services.provider_work import call_providers

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def salon(transactional_db: None) -> Salon:
    return a_salon(Tenant().agency, introduction="We look forward to seeing you.")


@pytest.fixture
def phone(browser: Browser, live_server: LiveServer, settings: Any) -> Iterator[Page]:
    settings.PUBLIC_URL = live_server.url
    context = browser.new_context(
        base_url=live_server.url, viewport={"width": 360, "height": 740}, java_script_enabled=False
    )
    yield context.new_page()
    context.close()


@pytest.fixture
def stripe(live_server: LiveServer, settings: Any) -> Iterator[RunningStripe]:
    """A stand-in for Stripe that posts its events to the product."""
    settings.PUBLIC_URL = live_server.url
    with open_stripe() as running:
        settings.STRIPE_API_URL = running.url
        yield running


def link_in_mail() -> str:
    send_mail()
    [link] = re.findall(r"http\S+/book/(?:manage|seat)/\S+", str(mail.outbox[-1].body))
    return str(link)


def test_a_visitor_pays_a_deposit_on_a_phone_and_gets_the_invoice(
    phone: Page, salon: Salon, stripe: RunningStripe
) -> None:
    Service.objects.filter(pk=salon.service.pk).update(deposit=Decimal("15.00"))
    connected(salon.workspace)
    phone.goto(salon.page)
    phone.get_by_role("link", name="Haircut").click()
    phone.locator(".times a").last.click()
    phone.get_by_label("Your name").fill("Ada Brandt")
    phone.get_by_label("E-mail").fill("ada@example.com")
    phone.wait_for_timeout(1_100)  # nobody fills in a form at once
    phone.get_by_role("button", name="Continue").click()
    expect(phone.get_by_label("Code")).to_be_visible()
    phone.get_by_label("Code").fill(the_code())
    phone.get_by_role("button").last.click()
    expect(phone.get_by_role("heading", level=1)).to_have_text("Pay at the sandbox")
    phone.get_by_role("button", name="Pay", exact=True).click()
    expect(phone.get_by_role("heading", level=1)).to_have_text("Your booking is on its way")
    until(lambda: ProviderEvent.objects.exists(), what="the provider's event")
    call_providers(seconds=20)
    settle_deposits()
    phone.reload()
    expect(phone.get_by_role("heading", level=1)).to_have_text("Your appointment is booked")
    phone.get_by_role("link", name="The invoice of the deposit").click()
    expect(phone.get_by_text("Nothing is owed any more.")).to_be_visible()
    pdf = phone.request.get(f"{phone.url}/invoice.pdf")
    text = text_of(pdf.body())
    assert str(Invoice.objects.get().number) in text
    assert "Haircut" in text
    assert "15.00" in text


def test_a_visitor_books_moves_and_cancels_on_a_phone_without_scripts(phone: Page, salon: Salon) -> None:
    phone.goto(salon.page)
    expect(phone.get_by_text("We look forward to seeing you.")).to_be_visible()
    phone.get_by_role("link", name="Haircut").click()
    phone.get_by_label("Time zone of the times").select_option("America/New_York")
    phone.get_by_role("button", name="Show these times").click()
    expect(phone.get_by_text("All times are in the time zone America/New_York.")).to_be_visible()
    phone.get_by_role("link", name="Later").click()
    days = phone.locator(".days a")
    expect(days).to_have_count(7)
    days.nth(2).click()
    expect(days.nth(2)).to_have_attribute("aria-current", "date")
    phone.locator(".times a").nth(4).click()
    phone.get_by_label("Your name").fill("Ada Brandt")
    phone.get_by_label("E-mail").fill("ada@example")
    phone.get_by_label("Note").fill("The side door, please.")
    phone.wait_for_timeout(1_100)  # nobody fills in a form at once
    phone.get_by_role("button", name="Continue").click()
    expect(phone.get_by_role("alert")).to_be_visible()
    expect(phone.get_by_label("Note")).to_have_value("The side door, please.")
    phone.get_by_label("E-mail").fill("ada@example.com")
    phone.wait_for_timeout(1_100)
    phone.get_by_role("button", name="Continue").click()
    expect(phone.get_by_label("Code")).to_be_visible()
    phone.get_by_label("Code").fill(the_code())
    phone.get_by_role("button", name="Book").click()
    expect(phone.get_by_role("heading", level=1)).to_have_text("Your appointment is booked")
    appointment = Appointment.objects.get()
    phone.goto(link_in_mail())
    phone.get_by_role("link", name="Choose another time").click()
    phone.locator(".times a").last.click()
    phone.get_by_role("button", name="Take the new time").click()
    expect(phone.get_by_role("heading", level=1)).to_have_text("Your appointment has a new time")
    moved = Appointment.objects.get()
    assert moved.starts_at != appointment.starts_at
    phone.goto(link_in_mail())
    phone.get_by_role("link", name="Cancel the appointment").click()
    phone.get_by_role("button", name="Cancel the appointment").click()
    expect(phone.get_by_role("heading", level=1)).to_have_text("Your appointment is cancelled")
    moved.refresh_from_db()
    assert moved.status == "cancelled"


def test_a_visitor_waits_for_a_seat_and_gives_it_back_on_a_phone_without_scripts(phone: Page, salon: Salon) -> None:
    session, other = a_class(salon, seats=1), ContactFactory.create(workspace=salon.workspace, email=None)
    add_participant(session=session, contact=other, now=now())
    phone.goto(salon.page)
    phone.get_by_role("link", name="Yoga").click()
    phone.get_by_role("link", name="Full: join the waiting list").click()
    phone.get_by_label("Your name").fill("Ada Brandt")
    phone.get_by_label("E-mail").fill("ada@example.com")
    phone.wait_for_timeout(1_100)  # nobody fills in a form at once
    phone.get_by_role("button", name="Join the waiting list").click()
    expect(phone.get_by_label("Code")).to_be_visible()
    phone.get_by_label("Code").fill(the_code())
    phone.get_by_role("button", name="Join the waiting list").click()
    expect(phone.get_by_role("heading", level=1)).to_have_text("You are on the waiting list")
    expect(phone.get_by_text("You are the first on the list.")).to_be_visible()
    remove_participant(session=session, contact=other, now=now(), by=SYSTEM)
    phone.goto(link_in_mail())
    expect(phone.get_by_role("heading", level=1)).to_have_text("Your seat")
    phone.get_by_role("link", name="Give the seat back").click()
    phone.get_by_role("button", name="Give the seat back").click()
    expect(phone.get_by_role("heading", level=1)).to_have_text("You have given your seat back")
    assert not session.participants.exists()
