"""A visitor pays a deposit at a stand-in for Stripe. The time is held meanwhile, and booked when it is paid."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
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
from tools.sandbox.stripe.server import RunningStripe, open_stripe
from workspaces.appointments.models import Appointment, Hold, Occupancy, VisitorBooking
from workspaces.appointments.services.booking import TimeTaken, book_appointment
from workspaces.appointments.tasks import end_holds, settle_deposits
from workspaces.catalogue.models import Service
from workspaces.finance.models import Checkout, Invoice, ProviderAccount, Refund

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
    assert (hold.starts_at, hold.invoice, invoice.total, invoice.status) == (
        instant_of_link(link),
        invoice.uuid,
        1_500,
        "open",
    )
    assert timedelta(minutes=34) < hold.expires_at - now() <= timedelta(minutes=35)
    with pytest.raises(TimeTaken):
        take(salon, link)
    back = decide(answer, "pay")
    assert "We are waiting for the payment provider" in visitor.get(back).content.decode()  # nobody believes an address
    settle_deposits()
    assert not Appointment.objects.exists()
    deliver(stripe)
    work(account)
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
    # The invoice that nobody paid is cancelled once the payment page has ended.
    settle_deposits()
    assert Invoice.objects.get(kind="invoice").status == "open"
    stripe.control("expire", session=Checkout.objects.get().provider_id)
    make_due()
    work(account)
    an_hour_passes()
    settle_deposits()
    assert Invoice.objects.get(kind="invoice").status == "void"
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


def test_without_online_payments_the_time_is_booked_at_once(salon: Salon) -> None:
    Visitor().book(salon)
    assert Appointment.objects.get().status == "booked"
    assert not Hold.objects.exists()
