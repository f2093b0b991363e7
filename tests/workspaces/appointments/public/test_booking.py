"""Visitors book on a workspace's page: services, times, details, the code, and what is refused."""

import re
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Mail
from agency.services import suspend_agency
from tests.factories import ContactFactory, DomainFactory, ServiceFactory, StaffFactory
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.workspaces.appointments.public.salons import (
    ADA,
    Salon,
    Visitor,
    a_salon,
    instant_of_link,
    the_code,
    wrong_code,
)
from workspaces.appointments.models import Appointment, VisitorBooking
from workspaces.appointments.public.details import signed_form_time
from workspaces.appointments.services.booking import book_appointment
from workspaces.appointments.services.booking_pages import change_booking_page
from workspaces.appointments.services.mails import code_of
from workspaces.appointments.tasks import forget_visitors
from workspaces.catalogue.models import ServiceStaff
from workspaces.contacts.models import Contact
from workspaces.subaccounts.services import suspend_workspace

pytestmark = pytest.mark.django_db


@pytest.fixture
def salon() -> Salon:
    return a_salon()


@pytest.fixture
def visitor() -> Visitor:
    return Visitor()


def take(salon: Salon, link: str) -> Appointment:
    """Somebody else books the time of a link."""
    return book_appointment(
        workspace=salon.workspace,
        service=salon.service,
        contact=ContactFactory.create(workspace=salon.workspace),
        starts_at=instant_of_link(link),
        now=now(),
        by=SYSTEM,
        source="api",
    )


def test_a_visitor_books_and_becomes_a_contact(salon: Salon, visitor: Visitor) -> None:
    assert visitor.links(salon.page, re.escape(salon.times)) == [salon.times]
    link = visitor.first_time(salon, zone="America/New_York")
    asked = visitor.send_details(link, phone="+49 30 1234567")
    assert not Appointment.objects.exists()  # before the code no time is taken
    booked = visitor.type_code(asked.headers["Location"])
    appointment = Appointment.objects.get()
    contact = Contact.objects.get()
    assert (contact.name, contact.email, contact.phone) == ("Ada Brandt", "ada@example.com", "+49301234567")
    assert (appointment.contact, appointment.staff, appointment.service) == (contact, salon.staff, salon.service)
    assert (appointment.starts_at, appointment.note) == (instant_of_link(link), "The side door, please.")
    assert (appointment.source, appointment.timezone) == ("booking_page", "America/New_York")
    assert booked.headers["Location"] == f"/book/manage/{appointment.token}?booked=1"
    assert "Your appointment is booked" in visitor.get(booked.headers["Location"]).content.decode()
    # A second click on the button leads to the same appointment.
    again = visitor.type_code(asked.headers["Location"], the_code())
    assert again.headers["Location"] == booked.headers["Location"]
    assert visitor.get(asked.headers["Location"]).status_code == 410
    assert Appointment.objects.count() == 1


def test_times_are_shown_by_the_visitors_clock_and_the_address_has_the_instant(salon: Salon, visitor: Visitor) -> None:
    for zone in ("Europe/Berlin", "Pacific/Kiritimati", "Asia/Kathmandu"):
        page = visitor.get(f"{salon.times}?zone={zone}").content.decode()
        shown = re.findall(r'/details\?at=([^"&]+)&[^"]*">(\d\d:\d\d)<', page)
        assert shown
        for instant, clock in shown:
            moment = instant_of_link(f"?at={instant}")
            assert f"{moment.astimezone(ZoneInfo(zone)):%H:%M}" == clock
            assert 9 <= moment.astimezone(ZoneInfo("Europe/Berlin")).hour < 17
        assert zone in page
        assert "Europe/Berlin" in page


def test_the_first_free_day_is_shown_and_named_if_it_is_in_another_month(salon: Salon, visitor: Visitor) -> None:
    salon.service.notice_minutes = 40 * 24 * 60
    salon.service.save()
    page = visitor.get(salon.times).content.decode()
    assert "The first free time is in " in page
    first = instant_of_link(visitor.first_time(salon))
    assert first > now() + timedelta(days=40)
    assert first < now() + timedelta(days=42)
    [earlier] = [link for link in visitor.links(salon.times, r"^\?week=") if "day=" not in link][:1]
    assert not visitor.links(salon.times + earlier, "/details[?]")


def test_a_page_takes_as_many_queries_for_many_services_and_people_as_for_one(salon: Salon, visitor: Visitor) -> None:
    visitor.get(salon.page)
    counts = []
    for beginning in ("C", "D"):
        for page in (salon.page, salon.times):
            with CaptureQueriesContext(connection) as captured:
                assert visitor.get(page).status_code == 200
            counts.append(len(captured))
        for name in (f"{beginning}leo", f"{beginning}ora"):
            staff = StaffFactory.create(workspace=salon.workspace, name=name)
            ServiceStaff.objects.create(service=salon.service, staff=staff)
            other = ServiceFactory.create(workspace=salon.workspace, kind="appointment", name=name)
            ServiceStaff.objects.create(service=other, staff=staff)
    assert counts[:2] == counts[2:]
    assert max(counts) < 20


def test_a_visitor_may_choose_the_person(salon: Salon, visitor: Visitor) -> None:
    other = StaffFactory.create(workspace=salon.workspace, name="Cleo")
    ServiceStaff.objects.create(service=salon.service, staff=other)
    asked = visitor.send_details(visitor.first_time(salon, staff=str(other.uuid)))
    visitor.type_code(asked.headers["Location"])
    assert Appointment.objects.get().staff == other


def test_a_code_counts_five_times_for_ten_minutes_and_only_for_its_booking(salon: Salon, visitor: Visitor) -> None:
    page = visitor.send_details(visitor.first_time(salon)).headers["Location"]
    booking = VisitorBooking.objects.get()
    code = the_code()
    for _ in range(5):
        assert visitor.type_code(page, wrong_code(booking)).status_code == 422
    assert visitor.type_code(page, code).status_code == 422
    page = visitor.send_details(visitor.first_time(salon)).headers["Location"]
    fresh, late = the_code(), VisitorBooking.objects.latest("id")
    assert fresh != code
    assert visitor.type_code(page, "12 34").status_code == 422
    VisitorBooking.objects.filter(pk=late.pk).update(expires_at=now())
    assert visitor.type_code(page, fresh).status_code == 422
    assert not Appointment.objects.exists()
    assert not Contact.objects.exists()
    # Nothing in the database says the code.
    assert all(code not in str(mail.context) and fresh not in str(mail.context) for mail in Mail.objects.all())


def test_a_time_that_was_taken_meanwhile_leads_back_and_keeps_what_was_typed(salon: Salon, visitor: Visitor) -> None:
    link = visitor.first_time(salon)
    page = visitor.send_details(link).headers["Location"]
    take(salon, link)
    back = visitor.type_code(page)
    assert back.status_code == 302
    shown = visitor.get(back.headers["Location"]).content.decode()
    assert "This time is no longer available" in shown
    other = visitor.links(back.headers["Location"], "/details[?]")[0]
    assert instant_of_link(other) > instant_of_link(link)
    typed = visitor.get(other).content.decode()
    assert all(text in typed for text in (ADA["name"], ADA["email"], ADA["note"]))
    # The address is verified already, so another time takes no other code.
    booked = visitor.send_details(other)
    assert booked.headers["Location"].startswith("/book/manage/")
    assert Appointment.objects.filter(source="booking_page").get().starts_at == instant_of_link(other)
    # And it was good for one booking.
    third = visitor.links(back.headers["Location"], "/details[?]")[-1]
    assert "/code/" in visitor.send_details(third).headers["Location"]


def test_somebody_elses_address_takes_a_code_of_its_own(salon: Salon, visitor: Visitor) -> None:
    link = visitor.first_time(salon)
    page = visitor.send_details(link).headers["Location"]
    take(salon, link)
    back = visitor.type_code(page).headers["Location"]
    other = visitor.links(back, "/details[?]")[0]
    assert "/code/" in visitor.send_details(other, email="grace@example.com").headers["Location"]
    assert not Appointment.objects.filter(source="booking_page").exists()


def test_a_taken_time_in_the_form_leads_back_before_a_code_is_typed(salon: Salon, visitor: Visitor) -> None:
    link = visitor.first_time(salon)
    take(salon, link)
    assert visitor.get(link).headers["Location"].startswith(salon.times)
    back = visitor.send_details(link).headers["Location"]
    assert back.startswith(salon.times)
    other = visitor.links(back, "/details[?]")[0]
    assert ADA["note"] in visitor.get(other).content.decode()


def test_a_known_contact_is_found_by_its_address_and_keeps_what_it_has(salon: Salon, visitor: Visitor) -> None:
    known = ContactFactory.create(
        workspace=salon.workspace, name="A. Brandt", email="ADA@example.com", phone="+4930111111", opted_out=True
    )
    visitor.book(salon, phone="+49 30 222222")
    known.refresh_from_db()
    assert Appointment.objects.get().contact == known
    assert Contact.objects.count() == 1
    assert (known.name, known.phone, known.opted_out) == ("A. Brandt", "+4930111111", True)
    assert Appointment.objects.get().note == "+4930222222\nThe side door, please."


def test_a_phone_of_another_contact_is_not_taken_over(salon: Salon, visitor: Visitor) -> None:
    other = ContactFactory.create(workspace=salon.workspace, phone="+4930222222", email=None)
    visitor.book(salon, phone="+49 30 222222")
    appointment = Appointment.objects.get()
    assert appointment.contact != other
    assert appointment.contact is not None
    assert appointment.contact.phone is None


def test_a_form_that_a_program_fills_in_or_that_is_wrong_sends_nothing(salon: Salon, visitor: Visitor) -> None:
    """A form that was open for no likely time counts as a program's."""
    link = visitor.first_time(salon)
    typings: tuple[dict[str, str], ...] = (
        {"website": "https://spam.example"},
        {"opened": "made-up"},
        {"opened": ""},
        {"opened": signed_form_time(now() + timedelta(minutes=5))},
        {"opened": signed_form_time(now() - timedelta(days=1))},
        {"name": "see spam.example now"},
        {"name": ""},
        {"email": "nobody"},
        {"phone": "12"},
        {"note": "x" * 1_001},
    )
    for typed in typings:
        answer = visitor.send_details(link, **typed)
        assert answer.status_code == 422, typed
        assert not VisitorBooking.objects.exists(), typed
        assert not Mail.objects.filter(kind=Mail.Kind.BOOKING_CODE).exists(), typed
        assert typed.keys() & {"note", "email", "name"} or ADA["note"] in answer.content.decode(), typed
    assert visitor.send_details(link).status_code == 302  # it is the typing that is refused


def test_an_address_gets_five_codes_and_a_network_twenty_forms(salon: Salon, visitor: Visitor) -> None:
    link = visitor.first_time(salon)
    statuses = [visitor.send_details(link).status_code for _ in range(6)]
    assert statuses == [302] * 5 + [429]
    assert VisitorBooking.objects.count() == 5
    others = [visitor.send_details(link, email=f"ada{n}@example.com").status_code for n in range(15)]
    assert others == [302] * 14 + [429]
    assert Visitor().send_details(link, email="late@example.com").status_code == 302


def test_a_contact_has_at_most_ten_open_appointments(salon: Salon, visitor: Visitor) -> None:
    contact = ContactFactory.create(workspace=salon.workspace, email=ADA["email"])
    links = visitor.links(salon.times + "?week=" + (now() + timedelta(days=3)).date().isoformat(), "/details[?]")
    for link in links[::2][:10]:
        book_appointment(
            workspace=salon.workspace,
            service=salon.service,
            contact=contact,
            starts_at=instant_of_link(link),
            now=now(),
            by=SYSTEM,
            source="api",
        )
    page = visitor.send_details(visitor.first_time(salon)).headers["Location"]
    refused = visitor.type_code(page)
    assert refused.status_code == 409
    assert "many bookings" in refused.content.decode()
    assert Appointment.objects.count() == 10


def test_pages_that_are_off_suspended_or_another_agencys_answer_404(visitor: Visitor, a: Tenant, b: Tenant) -> None:
    salon = a_salon(a.agency)
    DomainFactory.create(agency=a.agency, host="app.bright.localhost")
    DomainFactory.create(agency=b.agency, host="app.other.localhost")
    link = visitor.first_time(salon)
    pages = [salon.page, salon.times, link]
    own, other = (Client(headers={"host": f"app.{name}.localhost"}) for name in ("bright", "other"))
    assert [own.get(page).status_code for page in pages] == [200] * 3
    assert [other.get(page).status_code for page in pages] == [404] * 3
    assert visitor.get("/book/nobody").status_code == 404
    assert visitor.get(f"{salon.page}/{salon.workspace.uuid}").status_code == 404
    assert visitor.get(f"{salon.times}/details?at=tomorrow").status_code == 404
    salon.service.bookable = False
    salon.service.save()
    assert [visitor.get(page).status_code for page in pages] == [200, 404, 404]
    salon.service.bookable = True
    salon.service.save()
    suspend_workspace(workspace=salon.workspace, now=now(), by=SYSTEM)
    assert [visitor.get(page).status_code for page in pages] == [404] * 3
    off = a_salon(a.agency, name="Other")
    change_booking_page(workspace=off.workspace, now=now(), by=SYSTEM, enabled=False)
    assert visitor.get(off.page).status_code == 404
    on = a_salon(b.agency, name="Third")
    assert visitor.get(on.page).status_code == 200
    suspend_agency(agency=b.agency, reason="unpaid", now=now(), by=SYSTEM)
    assert visitor.get(on.page).status_code == 404


def test_what_was_typed_is_forgotten_after_three_days_and_the_appointment_stays(salon: Salon, visitor: Visitor) -> None:
    visitor.book(salon)
    visitor.send_details(visitor.first_time(salon))
    first = VisitorBooking.objects.earliest("id")
    VisitorBooking.objects.filter(pk=first.pk).update(created_at=now() - timedelta(days=3, minutes=1))
    forget_visitors()
    assert first not in VisitorBooking.objects.all()
    assert VisitorBooking.objects.count() == Appointment.objects.count() == 1


def test_pages_are_neither_indexed_nor_told_to_other_sites(salon: Salon, visitor: Visitor) -> None:
    for page in (salon.page, salon.times, "/book/nobody"):
        headers = visitor.get(page).headers
        assert headers["X-Robots-Tag"] == "noindex, nofollow"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"


@pytest.mark.django_db(transaction=True)
def test_two_clicks_and_two_visitors_at_once_book_a_time_once() -> None:
    salon = a_salon()
    visitors = [Visitor() for _ in range(4)]
    link = visitors[0].first_time(salon)
    pages = [
        visitor.send_details(link, email=f"ada{number % 2}@example.com").headers["Location"]
        for number, visitor in enumerate(visitors)
    ]
    codes = [code_of(booking.uuid) for booking in VisitorBooking.objects.order_by("id")]
    clicks = [*zip(visitors, pages, codes, strict=True)] * 2
    answers = at_once(lambda number: clicks[number][0].type_code(*clicks[number][1:]), times=len(clicks))
    assert Appointment.objects.count() == 1
    led = [answer.headers["Location"] for answer in answers if answer.status_code == 302]
    assert sum(address.startswith("/book/manage/") for address in led) in (1, 2)
    assert all("taken=1" in address for address in led if not address.startswith("/book/manage/"))
    assert len(led) == len(clicks)
