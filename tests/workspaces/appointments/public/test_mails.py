"""The e-mails to visitors, as an SMTP server gets them: what they say, their link, and the calendar file."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from email.message import EmailMessage
from typing import Any, NamedTuple

import icalendar
import pytest
from django.db import transaction
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Agency, Mail
from agency.tasks import send_mail
from tests.factories import ContactFactory, DomainFactory
from tests.fakes.smtp_server import SmtpServer
from tests.tenants import Tenant
from tests.workspaces.appointments.public.salons import ADA, Salon, Visitor, a_class, a_salon, instant_of_link
from workspaces.appointments.models import Appointment, ClassBooking, VisitorBooking
from workspaces.appointments.services.booking import book_appointment
from workspaces.appointments.services.moves import cancel_appointment, reschedule_appointment
from workspaces.classes.models import ClassSession
from workspaces.classes.services import (
    add_participant,
    cancel_class,
    change_class,
    join_waiting_list,
    remove_participant,
)
from workspaces.classes.tasks import fill_seats
from workspaces.contacts.services import remove_contact

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


def the_messages(server: SmtpServer) -> dict[str, EmailMessage]:
    """Send what waits, and give the e-mails by their recipients, who got one each."""
    before = len(server.messages)
    send_mail()
    sent = server.messages[before:]
    found = {to: message for _, to, message in sent}
    assert len(found) == len(sent)
    return found


def invitation_in(message: EmailMessage, *, filename: str = "appointment.ics") -> Invitation:
    [part] = list(message.iter_attachments())
    content = part.get_payload(decode=True)
    calendar = icalendar.Calendar.from_ical(content)  # type: ignore[arg-type]  # bytes, as they came
    [event] = calendar.walk("VEVENT")
    assert part.get_content_type() == "text/calendar"
    assert part.get_param("method") == calendar["METHOD"]
    assert part.get_filename() == filename
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


def code_in(server: SmtpServer, recipient: str = ADA["email"]) -> str:
    message = the_message(server, recipient)
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


def invitation_of_class(message: EmailMessage) -> tuple[str, str, int, str, datetime]:
    read = invitation_in(message, filename="class.ics")
    return read.method, read.uid, read.sequence, read.status, read.starts_at


def test_a_visitor_gets_an_email_about_a_seat_and_each_change_for_the_calendar(
    receiver: SmtpServer, settings: Any
) -> None:
    settings.PUBLIC_URL = "https://installation.example"
    salon, visitor = a_salon(name="Bea & Cleo"), Visitor()
    session = a_class(salon, seats=1)
    page = visitor.send_details(visitor.class_link(session)).headers["Location"]
    visitor.type_code(page, code_in(receiver))
    booking = ClassBooking.objects.get()
    message = the_message(receiver, ADA["email"])
    assert message["Subject"] == "Your seat is booked"
    text = text_of(message)
    assert f"https://installation.example/book/seat/{booking.token}" in text
    assert all(said in text for said in ("Bea & Cleo", "Yoga", "Bea", "(Europe/Berlin)"))
    uid = f"{booking.uuid}@appointments"
    assert invitation_of_class(message) == ("REQUEST", uid, 0, "CONFIRMED", session.starts_at)
    # Somebody waits, and hears of changes without a calendar file.
    other = Visitor()
    page = other.send_details(other.class_link(session), email="grace@example.com", waits="1").headers["Location"]
    other.type_code(page, code_in(receiver, "grace@example.com"))
    waiting = the_message(receiver, "grace@example.com")
    assert waiting["Subject"] == "You are on the waiting list"
    new = session.starts_at + timedelta(days=1)
    session = change_class(session=session, starts_at=new, now=now(), by=SYSTEM)
    change_class(session=session, capacity=1, staff=None, now=now(), by=SYSTEM)  # nobody has to know
    told = the_messages(receiver)
    assert [message["Subject"] for message in told.values()] == ["Your class has a new time"] * 2
    assert invitation_of_class(told[ADA["email"]]) == ("REQUEST", uid, 1, "CONFIRMED", new)
    assert not list(told["grace@example.com"].iter_attachments()) + list(waiting.iter_attachments())
    # The business takes the seat, which goes to the one who waits.
    remove_participant(session=session, contact=booking.contact, now=now(), by=SYSTEM)
    told = the_messages(receiver)
    assert [told[email]["Subject"] for email in (ADA["email"], "grace@example.com")] == [
        "Your seat is cancelled",
        "You have a seat",
    ]
    assert invitation_of_class(told[ADA["email"]]) == ("CANCEL", uid, 2, "CANCELLED", new)
    seated = invitation_of_class(told["grace@example.com"])
    cancel_class(session=session, now=now(), by=SYSTEM)
    [(email, message)] = the_messages(receiver).items()
    assert (email, message["Subject"]) == ("grace@example.com", "Your class is cancelled")
    assert invitation_of_class(message) == ("CANCEL", seated[1], 1, "CANCELLED", new)
    assert (seated[0], seated[2]) == ("REQUEST", 0)


def test_who_was_put_into_a_class_by_the_business_hears_of_moving_up_once_and_then_of_changes(
    receiver: SmtpServer,
) -> None:
    salon = a_salon()
    session = a_class(salon, seats=1)
    emails = ("first@example.com", None, "ada@example.com", "last@example.com")
    people = [ContactFactory.create(workspace=salon.workspace, email=email) for email in emails]
    add_participant(session=session, contact=people[0], now=now())
    for person in people[1:]:
        join_waiting_list(session=session, contact=person, now=now())
    send_mail()  # the invitation of the owner
    for person in people[:2]:
        remove_participant(session=session, contact=person, now=now(), by=SYSTEM)
        fill_seats()
    [(email, message)] = the_messages(receiver).items()
    assert (email, message["Subject"]) == ("ada@example.com", "You have a seat")
    assert f"/book/seat/{ClassBooking.objects.get().token}" in text_of(message)
    cancel_class(session=session, now=now(), by=SYSTEM)
    cancel_class(session=session, now=now(), by=SYSTEM)
    [(email, message)] = the_messages(receiver).items()
    assert (email, message["Subject"]) == ("ada@example.com", "Your class is cancelled")
    # Nobody is told of a class that is over, or by a contact's removal.
    over = a_class(salon, seats=1, name="Over")
    over_page = Visitor().send_details(Visitor().class_link(over)).headers["Location"]
    Visitor().type_code(over_page, code_in(receiver))
    the_message(receiver, ADA["email"])
    began = now() - timedelta(hours=2)
    ClassSession.objects.filter(pk=over.pk).update(starts_at=began, ends_at=began + timedelta(hours=1))
    over.refresh_from_db()
    cancel_class(session=over, now=now(), by=SYSTEM)
    remove_contact(contact=people[2], now=now(), by=SYSTEM)
    assert not the_messages(receiver)


def test_the_email_about_moving_up_is_queued_with_the_seat_or_not_at_all(receiver: SmtpServer) -> None:
    session = a_class(a_salon(), seats=1)
    people = [ContactFactory.create(workspace=session.workspace, email=f"n{n}@example.com") for n in range(2)]
    add_participant(session=session, contact=people[0], now=now())
    join_waiting_list(session=session, contact=people[1], now=now())
    send_mail()  # the invitation of the owner
    with suppress(RuntimeError), transaction.atomic():
        remove_participant(session=session, contact=people[0], now=now(), by=SYSTEM)
        raise RuntimeError  # the process dies before it commits
    assert not the_messages(receiver)
    assert not ClassBooking.objects.exists()
    remove_participant(session=session, contact=people[0], now=now(), by=SYSTEM)
    assert list(the_messages(receiver)) == ["n1@example.com"]
    # Somebody may have typed an address that is not theirs: it gets twenty of these a day.
    sent = Mail.objects.get(kind=Mail.Kind.SEAT_MOVED_UP)
    for _ in range(19):
        sent.pk = None
        sent.save(force_insert=True)
    remove_participant(session=session, contact=people[1], now=now(), by=SYSTEM)
    add_participant(session=session, contact=people[0], now=now())
    join_waiting_list(session=session, contact=people[1], now=now())
    remove_participant(session=session, contact=people[0], now=now(), by=SYSTEM)
    assert list(the_messages(receiver)) == ["n1@example.com"]  # of the seat that was taken
    assert Mail.objects.get(kind=Mail.Kind.SEAT_MOVED_UP, sent_at=None).failure == "too_many"
