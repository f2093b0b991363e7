"""A visitor pays a deposit at a stand-in for Stripe. The time is held meanwhile, and booked when it is paid."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from django.core import mail as outbox
from django.test.utils import override_settings
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.tasks import send_mail
from tests.factories import ContactFactory
from tests.tenants import Tenant
from tests.workspaces.appointments.public.salons import ADA, Salon, Visitor, a_salon, instant_of_link
from tests.workspaces.finance.payments.paying import connected, deliver, make_due, work
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from tools.sandbox.stripe.server import RunningStripe, open_stripe
from workspaces.appointments.models import Appointment, Hold, Occupancy, VisitorBooking
from workspaces.appointments.services.booking import TimeTaken, book_appointment
from workspaces.appointments.tasks import end_holds, settle_deposits
from workspaces.catalogue.models import Service
from workspaces.contacts.models import Contact
from workspaces.contacts.services.contacts import remove_contact
from workspaces.finance.models import Checkout, Invoice, InvoiceSeries, ProviderAccount, Refund
from workspaces.finance.services.invoices import InvoiceIsBeingPaid, change_invoice, delete_invoice, issue_invoice

pytestmark = pytest.mark.django_db
SECONDS = 20


@pytest.fixture(scope="module")
def running_stripe() -> Iterator[RunningStripe]:
    with open_stripe() as stripe:
        yield stripe


@pytest.fixture
def stripe(running_stripe: RunningStripe) -> Iterator[RunningStripe]:
    running_stripe.control("reset")
    running_stripe.control("hold")
    with override_settings(**running_stripe.variables):
        yield running_stripe


@pytest.fixture
def salon(a: Tenant) -> Salon:
    made = a_salon(a.agency)
    Service.objects.filter(pk=made.service.pk).update(deposit=Decimal("15.00"))
    return made


@pytest.fixture
def account(salon: Salon, stripe: RunningStripe) -> ProviderAccount:
    return connected(salon.workspace)


def go_to_payment(visitor: Visitor, link: str) -> Any:
    """Type the details and the code; gives the redirect to the provider."""
    code = visitor.send_details(link)
    assert "You pay a deposit of" in visitor.get(link).content.decode()
    return visitor.type_code(code.headers["Location"])


def decide(answer: Any, decision: str) -> str:
    """Press a button of the provider's page; gives the path to which the visitor returns."""
    assert answer.status_code == 303, answer.content.decode()
    left = requests.post(answer["Location"], data={"decision": decision}, allow_redirects=False, timeout=SECONDS)
    parts = urlsplit(left.headers.get("Location", ""))
    return f"{parts.path}?{parts.query}"


def take(salon: Salon, link: str) -> Appointment:
    return book_appointment(
        workspace=salon.workspace,
        service=salon.service,
        contact=ContactFactory.create(workspace=salon.workspace),
        starts_at=instant_of_link(link),
        now=now(),
        by=SYSTEM,
        source="api",
    )


def subjects() -> list[str]:
    send_mail()
    return [str(mail.subject) for mail in outbox.outbox if mail.to == [ADA["email"]]]


def an_hour_passes() -> None:
    """Let holds and payment pages end."""
    for name in ("expires_at", "check_at"):
        Hold.objects.update(**{name: now() - timedelta(minutes=1)})
    Occupancy.objects.exclude(expires_at=None).update(expires_at=now() - timedelta(minutes=1))


def test_a_paid_deposit_books_the_time_that_was_held(
    salon: Salon, account: ProviderAccount, stripe: RunningStripe
) -> None:
    visitor = Visitor()
    link = visitor.first_time(salon)
    answer = go_to_payment(visitor, link)
    hold, invoice = Hold.objects.get(), Invoice.objects.get()
    assert (hold.starts_at, hold.invoice) == (instant_of_link(link), invoice.uuid)
    assert (invoice.total, invoice.status, invoice.number) == (1_500, "draft", None)
    assert timedelta(minutes=34) < hold.expires_at - now() <= timedelta(minutes=35)
    with pytest.raises(TimeTaken):
        take(salon, link)
    back = decide(answer, "pay")
    assert "We are waiting for the payment provider" in visitor.get(back).content.decode()  # nobody believes an address
    settle_deposits()
    assert not Appointment.objects.exists()
    deliver(stripe)
    work(account)
    invoice.refresh_from_db()
    assert (invoice.status, invoice.number, invoice.paid) == ("paid", "INV-0001", 1_500)
    assert "are booking the time" in visitor.get(back).content.decode()
    settle_deposits()
    appointment = Appointment.objects.get()
    assert (appointment.starts_at, appointment.source) == (instant_of_link(link), "booking_page")
    assert visitor.get(back).headers["Location"] == f"/book/manage/{appointment.token}?booked=1"
    settle_deposits()
    assert Appointment.objects.count() == 1
    assert subjects().count("Your appointment is booked") == 1
    assert not Refund.objects.exists()


def test_a_payment_after_the_time_is_gone_is_paid_back_and_said(
    salon: Salon, account: ProviderAccount, stripe: RunningStripe
) -> None:
    visitor = Visitor()
    link = visitor.first_time(salon)
    answer = go_to_payment(visitor, link)
    an_hour_passes()
    end_holds()
    take(salon, link)
    back = decide(answer, "pay")
    deliver(stripe)
    work(account)
    settle_deposits()
    refund = Refund.objects.get()
    assert (refund.amount, Appointment.objects.count()) == (1_500, 1)
    assert "Your booking failed" in subjects()
    assert "You get your money back" in visitor.get(back).content.decode()
    make_due()
    work(account)
    refund.refresh_from_db()
    assert refund.status == "succeeded"
    settle_deposits()
    assert Refund.objects.count() == 1
    invoice = Invoice.objects.get(kind="invoice")
    assert (invoice.paid, invoice.credited, invoice.balance) == (0, 1_500, 0)


def test_a_payment_after_the_hold_books_a_time_that_is_still_free(
    salon: Salon, account: ProviderAccount, stripe: RunningStripe
) -> None:
    visitor = Visitor()
    answer = go_to_payment(visitor, visitor.first_time(salon))
    an_hour_passes()
    end_holds()
    decide(answer, "pay")
    deliver(stripe)
    work(account)
    settle_deposits()
    assert Appointment.objects.get().status == "booked"


def test_a_visitor_who_comes_back_unpaid_may_go_on_until_the_hold_ends(
    salon: Salon, account: ProviderAccount, stripe: RunningStripe
) -> None:
    visitor = Visitor()
    link = visitor.first_time(salon)
    first = go_to_payment(visitor, link)
    page = f"{salon.page}/deposit/{VisitorBooking.objects.get().uuid}"
    assert "Pay the deposit" in visitor.get(page).content.decode()
    again = visitor.post(page)
    assert (again.status_code, again.headers["Location"]) == (303, first.headers["Location"])
    an_hour_passes()
    assert "no longer kept for you" in visitor.get(page).content.decode()
    assert visitor.post(page).status_code == 409
    # The draft that nobody paid is deleted once the payment page has ended. It has taken no number.
    settle_deposits()
    assert Invoice.objects.get().status == "draft"
    stripe.control("expire", session=Checkout.objects.get().provider_id)
    make_due()
    work(account)
    an_hour_passes()
    settle_deposits()
    assert not Invoice.objects.exists()
    assert not InvoiceSeries.objects.exists()
    assert Hold.objects.get().check_at is None
    assert "Refresh" not in visitor.get(f"{page}?paid=1").headers
    end_holds()
    assert visitor.first_time(salon) == link


def test_while_the_provider_is_away_the_time_is_kept(
    salon: Salon, account: ProviderAccount, stripe: RunningStripe
) -> None:
    visitor = Visitor()
    code = visitor.send_details(visitor.first_time(salon)).headers["Location"]
    with override_settings(STRIPE_API_URL="http://127.0.0.1:9"):
        answer = visitor.type_code(code)
        assert answer.headers["Location"].startswith(f"/book/{salon.slug}/deposit/")
        assert "We hold the time for you until" in visitor.get(answer.headers["Location"]).content.decode()
        assert visitor.post(answer.headers["Location"]).status_code == 503
    assert visitor.post(answer.headers["Location"]).status_code == 303
    assert Hold.objects.count() == Invoice.objects.count() == 1


def remove_the_contact() -> None:
    contact = Contact.objects.get(email=ADA["email"])
    remove_contact(contact=contact, now=now(), by=SYSTEM)


def test_a_contact_removed_while_paying_is_asked_for_no_money(
    salon: Salon, account: ProviderAccount, stripe: RunningStripe
) -> None:
    visitor = Visitor()
    link = visitor.first_time(salon)
    answer = go_to_payment(visitor, link)
    remove_the_contact()
    take(salon, link)
    settle_deposits()
    assert "This link has ended" in requests.get(answer.headers["Location"], timeout=SECONDS).text
    assert not Invoice.objects.exists()
    hold = Hold.objects.get()
    assert (hold.contact, hold.note, hold.check_at, hold.refunded_at) == (None, "", None, None)


@pytest.mark.parametrize("is_known", [True, False])
def test_a_deposit_of_a_removed_contact_is_paid_back(
    salon: Salon, account: ProviderAccount, stripe: RunningStripe, is_known: bool
) -> None:
    """The payment is recorded before the removal, or only asked about after it."""
    visitor = Visitor()
    answer = go_to_payment(visitor, visitor.first_time(salon))
    back = decide(answer, "pay")
    if is_known:
        deliver(stripe)
        work(account)
    remove_the_contact()
    settle_deposits()
    settle_deposits()
    assert not Appointment.objects.exists()
    assert Refund.objects.get().amount == 1_500
    assert "Your booking failed" in subjects()
    assert "You get your money back" in visitor.get(back).content.decode()
    make_due()
    work(account)
    invoice = Invoice.objects.get(kind="invoice")
    assert (Refund.objects.get().status, invoice.paid, invoice.balance) == ("succeeded", 0, 0)
    assert invoice.billed_to.name == ADA["name"]


def test_a_deposit_that_is_paid_after_all_is_never_forgotten(
    salon: Salon, account: ProviderAccount, stripe: RunningStripe
) -> None:
    """The provider was away when the payment page ended, so nobody knows whether somebody paid."""
    visitor = Visitor()
    answer = go_to_payment(visitor, visitor.first_time(salon))
    decide(answer, "pay")
    remove_the_contact()
    Checkout.objects.update(expires_at=now() - timedelta(hours=1))
    with override_settings(STRIPE_API_URL="http://127.0.0.1:9"):
        settle_deposits()
    assert (Invoice.objects.get().status, Checkout.objects.get().status) == ("draft", "expired")
    assert Hold.objects.get().check_at is None
    deliver(stripe)
    work(account)
    settle_deposits()
    assert Refund.objects.get().amount == 1_500


def test_the_draft_of_a_deposit_stays_as_it_is_while_it_can_be_paid(
    salon: Salon, account: ProviderAccount, stripe: RunningStripe
) -> None:
    visitor = Visitor()
    go_to_payment(visitor, visitor.first_time(salon))
    invoice = Invoice.objects.get()
    page = dashboard_client(salon.workspace).get(f"/app/invoices/{invoice.uuid}").content.decode()
    assert "A payment of this draft has begun." in page
    for step in ("edit", "issue", "delete"):
        assert f"/app/invoices/{invoice.uuid}/{step}" not in page
    for change in (
        partial(issue_invoice, invoice=invoice, now=now(), by=SYSTEM),
        partial(change_invoice, invoice=invoice, now=now(), by=SYSTEM, note="Other"),
        partial(delete_invoice, invoice=invoice, by=SYSTEM),
    ):
        with pytest.raises(InvoiceIsBeingPaid):
            change()
    assert Invoice.objects.get().updated_at == invoice.updated_at


def test_without_online_payments_the_time_is_booked_at_once(salon: Salon) -> None:
    Visitor().book(salon)
    assert Appointment.objects.get().status == "booked"
    assert not Hold.objects.exists()
