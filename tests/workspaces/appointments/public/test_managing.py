"""Visitors manage their appointments by a secret link, which programs that look at e-mails open too."""

from datetime import timedelta

import icalendar
import pytest
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Event
from tests.factories import DomainFactory
from tests.tenants import Tenant
from tests.workspaces.appointments.public.salons import Salon, Visitor, a_salon, instant_of_link
from workspaces.appointments.models import Appointment, Occupancy
from workspaces.appointments.services.booking_pages import change_booking_page
from workspaces.appointments.services.moves import cancel_appointment
from workspaces.subaccounts.services import suspend_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def salon() -> Salon:
    return a_salon()


@pytest.fixture
def visitor() -> Visitor:
    return Visitor()


def state(appointment: Appointment) -> tuple[object, ...]:
    appointment.refresh_from_db()
    return appointment.status, appointment.starts_at, appointment.calendar_sequence, appointment.updated_at


def test_a_visitor_moves_and_cancels_an_appointment(salon: Salon, visitor: Visitor) -> None:
    page = visitor.book(salon)
    appointment = Appointment.objects.get()
    Appointment.objects.update(price=38, currency="USD")
    assert "<dt>Price</dt><dd>$38.00</dd>" in visitor.get(page).content.decode()
    [times] = visitor.links(page, "/times$")
    new = visitor.links(times, "/move[?]")[-1]
    assert visitor.post(new).headers["Location"].startswith(f"{page}?moved=1")
    appointment.refresh_from_db()
    assert (appointment.starts_at, appointment.calendar_sequence) == (instant_of_link(new), 1)
    [cancel] = visitor.links(page, "/cancel$")
    assert visitor.post(cancel).headers["Location"] == f"{page}?cancelled=1"
    appointment.refresh_from_db()
    assert (appointment.status, appointment.calendar_sequence) == ("cancelled", 2)
    assert not Occupancy.objects.exists()
    shown = visitor.get(page).content.decode()
    assert "Your appointment is cancelled" in shown
    assert f'href="http://testserver{salon.page}"' in shown
    # What has ended cannot be changed by an old page.
    assert visitor.post(cancel).status_code == 409
    assert visitor.post(new).status_code == 409


def test_opening_every_link_changes_nothing(salon: Salon, visitor: Visitor) -> None:
    page = visitor.book(salon)
    appointment = Appointment.objects.get()
    before, events = state(appointment), Event.objects.count()
    [times] = visitor.links(page, "/times$")
    for link in (page, times, f"{page}/cancel", f"{page}/appointment.ics", visitor.links(times, "/move[?]")[-1]):
        assert visitor.get(link).status_code == visitor.client.head(link).status_code == 200
    for link in (page, times, f"{page}/appointment.ics"):
        assert visitor.post(link).status_code == 405
    # A form of another site does not know the visitor's token for forms.
    stranger = Client(enforce_csrf_checks=True)
    assert stranger.post(f"{page}/cancel").status_code == 403
    assert (state(appointment), Event.objects.count()) == (before, events)


def test_a_change_is_possible_until_the_business_says(salon: Salon, visitor: Visitor) -> None:
    page = visitor.book(salon)
    appointment = Appointment.objects.get()
    [times] = visitor.links(page, "/times$")
    new = visitor.links(times, "/move[?]")[-1]
    left = appointment.starts_at - now()
    change_booking_page(
        workspace=salon.workspace, now=now(), by=SYSTEM, cancel_notice_minutes=int(left / timedelta(minutes=1)) + 1
    )
    before = state(appointment)
    assert "It is too late" in visitor.get(page).content.decode()
    assert not visitor.links(page, "/(times|cancel)$")
    for link in (times, new, f"{page}/cancel"):
        assert visitor.get(link).headers["Location"] == page
    assert [visitor.post(link).status_code for link in (new, f"{page}/cancel")] == [409, 409]
    assert state(appointment) == before
    change_booking_page(
        workspace=salon.workspace, now=now(), by=SYSTEM, cancel_notice_minutes=int(left / timedelta(minutes=1)) - 1
    )
    assert visitor.post(new).status_code == 302


def test_a_time_that_is_taken_leads_back_to_the_times(salon: Salon, visitor: Visitor) -> None:
    page, other = visitor.book(salon), Visitor()
    [times] = visitor.links(page, "/times$")
    new = visitor.links(times, "/move[?]")[3]
    taken = next(
        link for link in other.links(salon.times, "/details[?]") if instant_of_link(link) == instant_of_link(new)
    )
    code = other.send_details(taken, email="grace@example.com").headers["Location"]
    assert other.type_code(code).status_code == 302
    for answer in (visitor.post(new), visitor.get(new)):
        assert "taken=1" in answer.headers["Location"]
        assert "no longer available" in visitor.get(answer.headers["Location"]).content.decode()


def test_unknown_links_and_other_hosts_answer_404(visitor: Visitor, a: Tenant, b: Tenant) -> None:
    salon = a_salon(a.agency)
    DomainFactory.create(agency=b.agency, host="app.other.localhost")
    page = visitor.book(salon)
    token = page.rpartition("/")[2]
    for known in (token[:-1], token + "x", "x" * 43, "x" * 5_000, "manage"):
        assert visitor.get(f"/book/manage/{known}").status_code == 404
    assert Client(headers={"host": "app.other.localhost"}).get(page).status_code == 404
    # The booking page may be off; a suspended workspace is away.
    change_booking_page(workspace=salon.workspace, now=now(), by=SYSTEM, enabled=False)
    assert visitor.get(page).status_code == 200
    suspend_workspace(workspace=salon.workspace, now=now(), by=SYSTEM)
    assert visitor.get(page).status_code == 404


def test_the_calendar_file_has_one_uid_and_a_rising_sequence(salon: Salon, visitor: Visitor) -> None:
    page = visitor.book(salon)
    appointment = Appointment.objects.get()
    answer = visitor.get(f"{page}/appointment.ics")
    assert answer.headers["Content-Type"] == "text/calendar; charset=utf-8"
    first = icalendar.Calendar.from_ical(answer.content)
    [event] = first.walk("VEVENT")
    assert (str(first["METHOD"]), str(event["STATUS"])) == ("PUBLISH", "CONFIRMED")
    times = event.decoded("DTSTART"), event.decoded("DTEND")
    assert times == (appointment.starts_at, appointment.ends_at)
    cancel_appointment(appointment=appointment, now=now(), by=SYSTEM)
    second = icalendar.Calendar.from_ical(visitor.get(f"{page}/appointment.ics").content)
    [after] = second.walk("VEVENT")
    assert (str(second["METHOD"]), str(after["STATUS"]), after["UID"]) == ("CANCEL", "CANCELLED", event["UID"])
    assert (event["SEQUENCE"], after["SEQUENCE"]) == (0, 1)
