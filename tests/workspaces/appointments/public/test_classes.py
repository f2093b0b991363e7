"""Visitors book seats in classes, wait for a seat in a full one, and give back what they have."""

import re
from datetime import timedelta

import icalendar
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Event
from tests.factories import ClassSessionFactory, ContactFactory, DomainFactory, ServiceFactory
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.workspaces.appointments.public.salons import ADA, Salon, Visitor, a_class, a_salon, classes_page, the_code
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.appointments.models import ClassBooking, VisitorBooking
from workspaces.appointments.services.booking_pages import change_booking_page
from workspaces.appointments.services.mails import code_of
from workspaces.classes.models import ClassSession, Participant, WaitingListEntry
from workspaces.classes.services import add_participant, cancel_class, change_class, join_waiting_list
from workspaces.contacts.models import Contact
from workspaces.contacts.services import merge_contacts, remove_contact
from workspaces.subaccounts.services import suspend_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def salon() -> Salon:
    return a_salon()


@pytest.fixture
def visitor() -> Visitor:
    return Visitor()


def seat(session: ClassSession, *emails: str | None) -> list[Contact]:
    """Give seats to new contacts with these e-mail addresses, and places on the list once the class is full."""
    contacts = [ContactFactory.create(workspace=session.workspace, email=email) for email in emails]
    for contact in contacts:
        session.refresh_from_db()
        (join_waiting_list if session.is_full else add_participant)(session=session, contact=contact, now=now())
    return contacts


def test_a_visitor_finds_a_class_and_books_a_seat_once(salon: Salon, visitor: Visitor) -> None:
    session = a_class(salon, seats=3)
    assert set(visitor.links(salon.page, f"{salon.page}/.")) == {salon.times, classes_page(session)}
    [link] = visitor.links(f"{classes_page(session)}?zone=America/New_York", f"/{session.uuid}[?]")
    shown = visitor.get(f"{classes_page(session)}?zone=America/New_York").content.decode()
    assert "3 seats left" in shown
    assert "14:00\u201315:00" in shown  # 20:00 in Berlin
    asked = visitor.send_details(link, phone="+49 30 1234567")
    assert not Participant.objects.exists()  # before the code no seat is taken
    booked = visitor.type_code(asked.headers["Location"])
    [participant], booking = Participant.objects.select_related("contact"), ClassBooking.objects.get()
    assert (participant.contact.name, participant.contact.email) == (ADA["name"], ADA["email"])
    assert (booking.session, booking.contact, booking.timezone) == (session, participant.contact, "America/New_York")
    assert booked.headers["Location"] == f"/book/seat/{booking.token}?booked=1"
    page = visitor.get(booked.headers["Location"]).content.decode()
    assert all(text in page for text in ("Your seat is booked", "Yoga", "Bea", "(America/New York)"))
    seat(session, None)
    business = dashboard_client(session.workspace).get(f"/app/classes/{session.uuid}").content.decode()
    assert business.count("· Booking page</span>") == 1  # not at the seat that the business gave
    again = visitor.type_code(asked.headers["Location"], the_code())
    assert again.headers["Location"] == booked.headers["Location"]
    assert visitor.get(asked.headers["Location"]).status_code == 410
    assert visitor.book_class(session) == f"/book/seat/{booking.token}"  # the same person has one seat
    assert "1 seat left" in visitor.get(classes_page(session)).content.decode()
    assert (Participant.objects.count(), ClassBooking.objects.count(), Contact.objects.count()) == (2, 1, 2)


def test_a_visitor_joins_the_list_of_a_full_class_and_sees_the_place(salon: Salon, visitor: Visitor) -> None:
    session = a_class(salon, seats=1)
    seat(session, None, None, None)
    assert "Full: join the waiting list" in visitor.get(classes_page(session)).content.decode()
    page = visitor.book_class(session, waits="1")
    shown = visitor.get(page).content.decode()
    assert "You are on the waiting list" in shown
    assert "2 people are before you on the list." in shown
    assert visitor.get(f"{page}/class.ics").status_code == 404
    assert visitor.links(page, "/give-back$") == [f"{page}/give-back"]
    assert "Leave the waiting list?" in visitor.get(f"{page}/give-back").content.decode()
    assert [visitor.post(f"{page}/give-back").headers["Location"] for _ in range(2)] == [f"{page}?left=1", page]
    assert "You have left the waiting list" in visitor.get(f"{page}?left=1").content.decode()
    assert WaitingListEntry.objects.count() == 2


def test_a_class_that_is_full_or_moved_meanwhile_leads_back_and_asks(salon: Salon, visitor: Visitor) -> None:
    session = a_class(salon, seats=1)
    link = visitor.class_link(session)
    code = visitor.send_details(link).headers["Location"]
    [other] = seat(session, None)
    refused = visitor.send_details(link, email="grace@example.com")
    assert (refused.status_code, VisitorBooking.objects.count()) == (409, 1)  # no code for what is not offered
    assert "This class is full now." in refused.content.decode()
    back = visitor.type_code(code).headers["Location"]
    assert not Contact.objects.filter(email=ADA["email"]).exists()
    shown = visitor.get(back).content.decode()
    assert "This class is full now." in shown
    assert 'name="waits" value="1"' in shown
    assert ADA["name"] in shown
    moved = session.starts_at + timedelta(hours=1)
    visitor.get(back)
    waits = visitor.send_details(back, waits="1")  # the address is verified, so it takes no other code
    assert waits.headers["Location"].startswith("/book/seat/")
    assert WaitingListEntry.objects.get().contact.email == ADA["email"]
    # Another one is moved between the form and the code.
    later = a_class(salon, seats=1, days=3)
    code = visitor.send_details(visitor.class_link(later)).headers["Location"]
    moved = later.starts_at + timedelta(hours=1)
    change_class(session=later, starts_at=moved, now=now(), by=SYSTEM)
    back = visitor.type_code(code).headers["Location"]
    assert "This class has changed" in visitor.get(back).content.decode()
    assert visitor.send_details(back).headers["Location"].startswith("/book/seat/")
    cancel_class(session=session, now=now(), by=SYSTEM)
    gone = visitor.get(link)
    assert "This class can no longer be booked" in visitor.get(gone.headers["Location"]).content.decode()
    assert other in Contact.objects.filter(class_seats__session=session)


def test_a_seat_is_given_back_by_a_form_alone_and_until_the_notice(salon: Salon, visitor: Visitor) -> None:
    session = a_class(salon, seats=1)
    page = visitor.book_class(session)
    events = Event.objects.count()
    for link in (page, f"{page}/give-back", f"{page}/class.ics"):
        assert visitor.get(link).status_code == visitor.client.head(link).status_code == 200
    assert (Participant.objects.count(), Event.objects.count()) == (1, events)
    assert [visitor.post(link).status_code for link in (page, f"{page}/class.ics")] == [405, 405]
    assert Client(enforce_csrf_checks=True).post(f"{page}/give-back").status_code == 403
    minutes = int((session.starts_at - now()) / timedelta(minutes=1))
    change_booking_page(workspace=salon.workspace, now=now(), by=SYSTEM, cancel_notice_minutes=minutes + 1)
    assert "It is too late" in visitor.get(page).content.decode()
    assert visitor.get(f"{page}/give-back").headers["Location"] == page
    assert visitor.post(f"{page}/give-back").status_code == 409
    assert Participant.objects.count() == 1
    change_booking_page(workspace=salon.workspace, now=now(), by=SYSTEM, cancel_notice_minutes=minutes - 1)
    seat(session, "next@example.com")  # waits
    assert visitor.post(f"{page}/give-back").headers["Location"] == f"{page}?returned=1"
    assert "You have given your seat back" in visitor.get(f"{page}?returned=1").content.decode()
    assert Participant.objects.get().contact.email == "next@example.com"
    visitor.post(f"{page}/give-back")  # a second click
    assert Participant.objects.count() == 1


def test_the_calendar_file_has_one_uid_and_a_rising_sequence(salon: Salon, visitor: Visitor) -> None:
    session = a_class(salon)
    page = visitor.book_class(session)

    def event() -> tuple[str, str, int, object]:
        calendar = icalendar.Calendar.from_ical(visitor.get(f"{page}/class.ics").content)
        [entry] = calendar.walk("VEVENT")
        return str(calendar["METHOD"]), str(entry["UID"]), int(str(entry["SEQUENCE"])), entry.decoded("DTSTART")

    first = event()
    assert first == ("PUBLISH", f"{ClassBooking.objects.get().uuid}@appointments", 0, session.starts_at)
    moved = session.starts_at + timedelta(days=1)
    change_class(session=session, starts_at=moved, now=now(), by=SYSTEM)
    assert event() == ("PUBLISH", first[1], 1, moved)
    visitor.post(f"{page}/give-back")
    assert event() == ("CANCEL", first[1], 2, moved)
    assert visitor.book_class(session) == page
    assert event() == ("PUBLISH", first[1], 3, moved)


def test_links_work_after_a_merge_and_end_with_the_contact(salon: Salon, visitor: Visitor) -> None:
    session = a_class(salon, seats=2)
    page, other = visitor.book_class(session), Visitor().book_class(session, email="grace@example.com")
    ada, grace = (Contact.objects.get(email=email) for email in (ADA["email"], "grace@example.com"))
    merge_contacts(contact=grace, other=ada, now=now(), by=SYSTEM)
    assert Participant.objects.count() == 1
    for link in (page, other):
        assert "Your seat</h1>" in visitor.get(link).content.decode()
    visitor.post(f"{page}/give-back")
    assert not Participant.objects.exists()
    again = visitor.book_class(session, email="grace@example.com")
    assert again in (page, other)
    remove_contact(contact=grace, now=now(), by=SYSTEM)
    shown = visitor.get(again).content.decode()
    assert "You have no seat in this class" in shown
    assert "grace@example.com" not in shown
    assert visitor.post(f"{again}/give-back").headers["Location"] == again


def test_a_form_of_a_program_and_more_than_ten_bookings_are_refused(salon: Salon, visitor: Visitor) -> None:
    session = a_class(salon, days=20)
    link = visitor.class_link(session)
    for typed in ({"website": "https://spam.example"}, {"opened": "made-up"}, {"email": "nobody"}):
        assert visitor.send_details(link, **typed).status_code == 422, typed
    assert not VisitorBooking.objects.exists()
    contact = ContactFactory.create(workspace=salon.workspace, email=ADA["email"])
    for day in range(2, 12):
        add_participant(session=a_class(salon, days=day), contact=contact, now=now())  # by the business: not counted
    for one in ClassSession.objects.filter(participants__contact=contact)[:9]:
        token = str(one.pk)
        ClassBooking.objects.create(
            session=one, contact=contact, timezone="UTC", token=token, token_digest=token.encode()
        )
    visitor.book(salon)  # the tenth
    refused = visitor.type_code(visitor.send_details(link).headers["Location"])
    assert (refused.status_code, "many bookings" in refused.content.decode()) == (409, True)
    assert not session.participants.exists()


def test_what_is_not_offered_answers_404(visitor: Visitor, a: Tenant, b: Tenant) -> None:
    salon = a_salon(a.agency)
    DomainFactory.create(agency=b.agency, host="app.other.localhost")
    session = a_class(salon)
    over = a_class(salon, name="Over", days=-1)
    link, page = visitor.class_link(session), visitor.book_class(session)
    pages = [classes_page(session), link]
    stranger = Client(headers={"host": "app.other.localhost"})
    assert [stranger.get(one).status_code for one in (*pages, page)] == [404] * 3
    empty = classes_page(over), f"{classes_page(session)}/{over.uuid}", f"{salon.page}/{session.service.uuid}"
    assert [visitor.get(one).status_code for one in (*empty, f"{salon.page}/classes/{salon.service.uuid}")] == [404] * 4
    token = page.rpartition("/")[2]
    assert [visitor.get(f"/book/seat/{one}").status_code for one in (token[:-1], "x" * 5_000)] == [404] * 2
    change_booking_page(workspace=salon.workspace, now=now(), by=SYSTEM, offers_classes=False)
    assert [visitor.get(one).status_code for one in (salon.page, *pages, page)] == [200, 404, 404, 200]
    assert not visitor.links(salon.page, "/classes/")
    suspend_workspace(workspace=salon.workspace, now=now(), by=SYSTEM)
    assert visitor.get(page).status_code == 404


def test_lists_take_as_many_queries_for_many_classes_as_for_one(salon: Salon, visitor: Visitor) -> None:
    session = a_class(salon)
    visitor.get(salon.page)
    counts = []
    for round_ in (1, 2):
        for page in (salon.page, classes_page(session)):
            with CaptureQueriesContext(connection) as captured:
                assert visitor.get(page).status_code == 200
            counts.append(len(captured))
        for number in range(12 * round_):
            starts_at = session.starts_at + timedelta(days=number + 1)
            ClassSessionFactory.create(workspace=salon.workspace, service=session.service, starts_at=starts_at)
            other = ServiceFactory.create(workspace=salon.workspace, kind="class")
            ClassSessionFactory.create(workspace=salon.workspace, service=other, starts_at=starts_at)
    assert counts[:2] == counts[2:]
    assert max(counts) < 14
    assert len(visitor.links(classes_page(session), "/classes/[^/]+/[^/]+[?]")) == 20
    [later] = visitor.links(classes_page(session), "^[?]page=2&")
    assert len(visitor.links(classes_page(session) + later, "/classes/[^/]+/[^/]+[?]")) == 17


@pytest.mark.django_db(transaction=True)
def test_two_visitors_at_once_on_the_last_seat_get_a_seat_and_a_place() -> None:
    salon = a_salon()
    session = a_class(salon, seats=1)
    visitors = [Visitor() for _ in range(4)]
    pages = [
        visitor.send_details(visitor.class_link(session), email=f"ada{number % 2}@example.com", waits="1").headers[
            "Location"
        ]
        for number, visitor in enumerate(visitors)
    ]
    codes = [code_of(booking.uuid) for booking in VisitorBooking.objects.order_by("id")]
    clicks = [*zip(visitors, pages, codes, strict=True)] * 2
    answers = at_once(lambda number: clicks[number][0].type_code(*clicks[number][1:]), times=len(clicks))
    assert all(re.match("/book/seat/", answer.headers["Location"]) for answer in answers)
    assert len({answer.headers["Location"] for answer in answers}) == ClassBooking.objects.count() == 2
    seated, waiting = Participant.objects.get().contact, WaitingListEntry.objects.get().contact
    assert {seated.email, waiting.email} == {"ada0@example.com", "ada1@example.com"}
