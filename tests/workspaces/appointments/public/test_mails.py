"""The e-mails to visitors, as an SMTP server gets them: what they say, their link, and the calendar file."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from email.message import EmailMessage
from typing import Any, NamedTuple

import icalendar
import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Agency, Mail
from agency.tasks import send_mail
from tests.factories import ContactFactory, DomainFactory
from tests.fakes.smtp_server import SmtpServer
from tests.tenants import Tenant
from tests.workspaces.appointments.public.salons import ADA, Salon, Visitor, a_salon, instant_of_link
from workspaces.appointments.models import Appointment, VisitorBooking
from workspaces.appointments.services.booking import book_appointment
from workspaces.appointments.services.moves import cancel_appointment, reschedule_appointment

pytestmark = pytest.mark.django_db


@pytest.fixture
def receiver(settings: Any) -> Iterator[SmtpServer]:
    """The installation's mail server."""
    with SmtpServer() as server:
        settings.EMAIL_BACKEND = "config.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_TLS = "127.0.0.1", server.port, False
        yield server


class Invitation(NamedTuple):
    """A calendar file of an e-mail, read as a calendar reads it."""

    method: str
    uid: str
    sequence: int
    status: str
    starts_at: datetime
    attendee: str
    organizer: str


def the_message(server: SmtpServer, recipient: str) -> EmailMessage:
    """Send what waits, and give the only e-mail that this address got by that."""
    before = len(server.messages)
    send_mail()
    [message] = [message for _, to, message in server.messages[before:] if to == recipient]
    return message


def invitation_in(message: EmailMessage) -> Invitation:
    [part] = list(message.iter_attachments())
    content = part.get_payload(decode=True)
    calendar = icalendar.Calendar.from_ical(content)  # type: ignore[arg-type]  # bytes, as they came
    [event] = calendar.walk("VEVENT")
    assert part.get_content_type() == "text/calendar"
    assert part.get_param("method") == calendar["METHOD"]
    assert part.get_filename() == "appointment.ics"
    assert "VTIMEZONE" not in str(content)
    return Invitation(
        str(calendar["METHOD"]),
        str(event["UID"]),
        int(str(event["SEQUENCE"])),
        str(event["STATUS"]),
        event.decoded("DTSTART"),
        str(event["ATTENDEE"]),
        str(event["ORGANIZER"]),
    )


def text_of(message: EmailMessage) -> str:
    body = message.get_body(("plain",))
    assert body is not None
    return str(body.get_content())


def code_in(server: SmtpServer) -> str:
    message = the_message(server, ADA["email"])
    assert message["Subject"] == "The code for your booking"
    [code] = re.findall(r"\b\d{6}\b", text_of(message))
    return str(code)


def test_a_visitor_gets_a_confirmation_and_each_change_for_the_calendar(
    receiver: SmtpServer, settings: Any, a: Tenant
) -> None:
    settings.PUBLIC_URL = "https://installation.example"
    DomainFactory.create(agency=a.agency, host="app.bright.example")
    salon, visitor = a_salon(a.agency, name="Bea & Cleo"), Visitor()
    page = visitor.send_details(visitor.first_time(salon, zone="America/New_York")).headers["Location"]
    visitor.type_code(page, code_in(receiver))
    appointment = Appointment.objects.get()
    message = the_message(receiver, ADA["email"])
    assert message["Subject"] == "Your appointment is booked"
    text = text_of(message)
    assert f"https://app.bright.example/book/manage/{appointment.token}" in text
    assert all(said in text for said in ("Bea & Cleo", "Haircut", "Bea", "(America/New York)"))
    booked = invitation_in(message)
    assert (booked.method, booked.sequence, booked.status) == ("REQUEST", 0, "CONFIRMED")
    assert (booked.starts_at, booked.attendee) == (appointment.starts_at, f"mailto:{ADA['email']}")
    assert booked.organizer == f"mailto:{settings.DEFAULT_FROM_EMAIL}"
    # The business moves it, and then cancels it.
    new = appointment.starts_at + timedelta(days=1)
    appointment = reschedule_appointment(appointment=appointment, starts_at=new, now=now(), by=SYSTEM)
    moved_message = the_message(receiver, ADA["email"])
    assert moved_message["Subject"] == "Your appointment has changed"
    moved = invitation_in(moved_message)
    assert (moved.method, moved.sequence, moved.starts_at, moved.uid) == ("REQUEST", 1, new, booked.uid)
    cancel_appointment(appointment=appointment, now=now(), by=SYSTEM)
    cancelled_message = the_message(receiver, ADA["email"])
    assert cancelled_message["Subject"] == "Your appointment is cancelled"
    cancelled = invitation_in(cancelled_message)
    assert (cancelled.method, cancelled.sequence, cancelled.status) == ("CANCEL", 2, "CANCELLED")
    assert cancelled.uid == booked.uid


def appointment_by_phone(salon: Salon, email: str | None) -> Appointment:
    return book_appointment(
        workspace=salon.workspace,
        service=salon.service,
        contact=ContactFactory.create(workspace=salon.workspace, email=email),
        starts_at=instant_of_link(Visitor().first_time(salon)),
        now=now(),
        by=SYSTEM,
        source="dashboard",
    )


def test_who_was_booked_by_the_business_hears_of_changes_only(receiver: SmtpServer) -> None:
    salon = a_salon()
    appointment = appointment_by_phone(salon, "grace@example.com")
    silent = appointment_by_phone(salon, None)
    send_mail()
    assert "grace@example.com" not in receiver.recipients
    cancel_appointment(appointment=appointment, now=now(), by=SYSTEM)
    cancel_appointment(appointment=silent, now=now(), by=SYSTEM)
    assert the_message(receiver, "grace@example.com")["Subject"] == "Your appointment is cancelled"


def test_an_email_says_what_was_true_when_it_was_queued(receiver: SmtpServer) -> None:
    salon = a_salon()
    appointment = appointment_by_phone(salon, "grace@example.com")
    times = [appointment.starts_at + timedelta(days=n) for n in (1, 2)]
    for moment in times:
        reschedule_appointment(appointment=appointment, starts_at=moment, now=now(), by=SYSTEM)
    send_mail()
    told = [invitation_in(message) for _, to, message in receiver.messages if to == "grace@example.com"]
    assert sorted((one.sequence, one.starts_at) for one in told) == [(1, times[0]), (2, times[1])]


def test_a_visitor_is_written_to_in_the_language_of_the_page(receiver: SmtpServer, settings: Any, a: Tenant) -> None:
    Agency.objects.filter(pk=a.agency.pk).update(language="es")
    salon, visitor = a_salon(a.agency), Visitor()
    visitor.client.cookies[settings.LANGUAGE_COOKIE_NAME] = "de"
    page = visitor.send_details(visitor.first_time(salon)).headers["Location"]
    send_mail()
    assert Mail.objects.get(kind="booking_code").context["language"] == "de"
    assert visitor.get(page).headers["Content-Language"] == "de"


def test_an_address_gets_ten_codes_a_day_of_an_agency(receiver: SmtpServer, a: Tenant) -> None:
    salons = [a_salon(a.agency, name=f"Salon {n}") for n in range(3)]
    for salon in salons:
        link = Visitor().first_time(salon)
        for _ in range(4):
            an_hour_passes_at_the_pages()
            assert Visitor().send_details(link).status_code == 302
    send_mail()
    assert receiver.recipients.count(ADA["email"]) == 10


def an_hour_passes_at_the_pages() -> None:
    VisitorBooking.objects.update(created_at=now() - timedelta(hours=1))
