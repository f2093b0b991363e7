"""Calendar programs read the appointments and classes of a staff member at a secret address."""

import re
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import icalendar
import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Agency
from agency.services import restore_agency, suspend_agency
from tests import furnished
from tests.factories import ClassSessionFactory, ContactFactory, DomainFactory, StaffFactory
from tests.factories.appointments import AppointmentFactory, a_bookable_service, tomorrow
from tests.tenants import Tenant, an_address
from tests.workspaces.appointments.dashboard.making import move_to, text
from tests.workspaces.subaccounts.dashboard.clients import agency_client, dashboard_client
from workspaces.appointments.models import Appointment, CalendarFeed
from workspaces.appointments.public import feeds
from workspaces.appointments.services import calendar_feeds
from workspaces.appointments.services.calendar_feeds import create_feed, feed_url, remove_feed
from workspaces.appointments.services.moves import cancel_appointment, complete_appointment, reschedule_appointment
from workspaces.catalogue.models import Service, Staff
from workspaces.catalogue.services import delete_staff
from workspaces.classes.services import add_participant, cancel_class
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import restore_workspace, suspend_workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


@pytest.fixture
def cut(a: Tenant) -> Service:
    return a_bookable_service(a.workspace, name="Haircut")


@pytest.fixture
def mia(cut: Service) -> Staff:
    return cut.staff.get()


@pytest.fixture
def ada(a: Tenant) -> Contact:
    return ContactFactory.create(workspace=a.workspace, name="Ada Lovelace", phone="+4930123456")


def path_of(staff: Staff) -> str:
    return urlsplit(feed_url(create_feed(staff=staff, now=now(), by=SYSTEM))).path


def read(path: str, **headers: str) -> HttpResponse:
    return Client(REMOTE_ADDR=an_address()).get(path, headers=headers)  # type: ignore[return-value]  # for tests


def events(path: str) -> dict[str, Any]:
    """Read a feed, and give its events by their ids."""
    answer = read(path)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/calendar; charset=utf-8")
    calendar = icalendar.Calendar.from_ical(answer.content)
    return {str(event["UID"]): event for event in calendar.walk("VEVENT")}


def summaries(path: str) -> list[str]:
    return [str(event["SUMMARY"]) for event in events(path).values()]


def booked(cut: Service, ada: Contact, starts_at: datetime) -> Appointment:
    return AppointmentFactory.create(workspace=cut.workspace, service=cut, contact=ada, starts_at=starts_at)


def test_somebody_creates_shows_renews_and_removes_the_address(a: Tenant, mia: Staff) -> None:
    owner, page = dashboard_client(a.workspace), f"/app/staff/{mia.uuid}/calendars"
    forms = f"/app/staff/{mia.uuid}/calendar-address"
    assert "Create address" in text(owner.get(page))
    for _ in range(2):
        made = owner.post(f"{forms}/create")
        assert (made.status_code, made.headers["Location"]) == (302, page)
    shown = owner.get(page)
    [first] = set(re.findall(r"http://testserver(/calendar/[\w-]{43}\.ics)", shown.content.decode()))
    assert "Anyone with this address can read names, phone numbers and times." in text(shown)
    assert "not read yet" in text(shown)
    assert "/calendar/" not in agency_client(a.workspace, "viewer").get(page).content.decode()
    assert read(first).status_code == 200
    assert "not read yet" not in text(owner.get(page))
    owner.post(f"{forms}/renew")
    [second] = set(re.findall(r"http://testserver(/calendar/[\w-]{43}\.ics)", owner.get(page).content.decode()))
    assert (read(first).status_code, read(second).status_code) == (404, 200)
    assert owner.post(f"{forms}/remove").status_code == 302
    assert (read(second).status_code, CalendarFeed.objects.exists()) == (404, False)
    assert owner.post(f"{forms}/renew").status_code == owner.post(f"{forms}/remove").status_code == 404
    entries = ActivityEntry.objects.filter(action__startswith="calendar_feed.").order_by("id")
    assert [one.action.partition(".")[2] for one in entries] == ["created", "renewed", "removed"]
    assert not any(path[10:-4] in str(vars(one)) for one in entries for path in (first, second))


def test_an_appointment_is_the_one_of_the_visitors_file_through_all_its_changes(
    a: Tenant, cut: Service, mia: Staff, ada: Contact
) -> None:
    Workspace.objects.filter(pk=a.workspace.pk).update(timezone="Asia/Kathmandu", address="Main Street 5\nBerlin")
    appointment, path = booked(cut, ada, tomorrow()), path_of(mia)

    def compared() -> tuple[Any, Any]:
        [own] = events(path).values()
        file = read(f"/book/manage/{appointment.token}/appointment.ics").content
        [told] = icalendar.Calendar.from_ical(file).walk("VEVENT")
        same = ("UID", "SEQUENCE", "DTSTART", "DTEND", "STATUS", "LOCATION")
        assert [own[name].to_ical() if name in own else None for name in same] == [
            told[name].to_ical() if name in told else None for name in same
        ]
        return own["SEQUENCE"], str(own["STATUS"])

    assert compared() == (0, "CONFIRMED")
    [event] = events(path).values()
    assert (str(event["SUMMARY"]), str(event["DESCRIPTION"])) == ("Haircut (Ada Lovelace)", "+4930123456")
    assert (event.decoded("DTSTART"), event["DTSTART"].to_ical()[-1:]) == (tomorrow(), b"Z")
    assert str(event["URL"]) == f"http://testserver/app/appointments/{appointment.uuid}"
    assert str(appointment.token) not in read(path).content.decode()
    reschedule_appointment(appointment=appointment, starts_at=tomorrow(15), now=now(), by=SYSTEM)
    assert compared() == (1, "CONFIRMED")
    cancel_appointment(appointment=appointment, now=now(), by=SYSTEM)
    assert compared() == (2, "CANCELLED")
    Appointment.objects.update(cancelled_at=now() - 31 * DAY)
    assert events(path) == {}


def test_classes_of_the_person_are_there_and_nothing_of_others(
    a: Tenant, b: Tenant, cut: Service, mia: Staff, ada: Contact
) -> None:
    booked(a_bookable_service(a.workspace), ada, tomorrow())
    AppointmentFactory.create(workspace=b.workspace)
    ClassSessionFactory.create(workspace=a.workspace, staff=StaffFactory.create(workspace=a.workspace))
    path = path_of(mia)
    assert events(path) == {}
    yoga = ClassSessionFactory.create(workspace=a.workspace, staff=mia, capacity=8)
    add_participant(session=yoga, contact=ada, now=now())
    own = events(path)[f"{yoga.uuid}@classes"]
    assert str(own["SUMMARY"]) == f"{yoga.service.name} (1/8)"
    assert (str(own["DESCRIPTION"]), str(own["STATUS"])) == ("1 of 8 seats taken", "CONFIRMED")
    assert "Ada" not in str(own)
    Agency.objects.update(language="de")
    cancel_class(session=yoga, now=now(), by=SYSTEM)
    [own] = events(path).values()
    assert (str(own["DESCRIPTION"]), str(own["STATUS"])) == ("1 von 8 Plätzen belegt", "CANCELLED")


def test_it_reaches_from_a_month_ago_to_half_a_year_ahead_and_keeps_the_nearest(
    cut: Service, mia: Staff, ada: Contact, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = path_of(mia)
    for days in (-31, -29, -1, 1, 3, 179, 181):
        named = ContactFactory.create(workspace=cut.workspace, name=str(days))
        move_to(booked(cut, named, tomorrow() + 10 * DAY), now() + days * DAY)
    assert [one[9:-1] for one in summaries(path)] == ["-29", "-1", "1", "3", "179"]
    # What took place stays.
    complete_appointment(appointment=Appointment.objects.get(contact__name="-1"), now=now(), by=SYSTEM)
    for most, nearest in ((4, ["-29", "-1", "1", "3"]), (3, ["-1", "1", "3"]), (1, ["1"])):
        monkeypatch.setattr(calendar_feeds, "MOST_ENTRIES", most)
        assert [one[9:-1] for one in summaries(path)] == nearest


def test_what_people_are_called_cannot_break_the_file(a: Tenant, cut: Service, mia: Staff, ada: Contact) -> None:
    name = 'Ada; "L,\\\r\nEND:VEVENT\r\nBEGIN:VEVENT\rSUMMARY:x\x07\u2028' + "ÄÖ😀" * 60
    for row in (ada, a.workspace, mia, cut):
        type(row)._default_manager.filter(pk=row.pk).update(name=name[:120])
    booked(cut, ada, tomorrow())
    content = read(path_of(mia)).content
    assert max(map(len, content.split(b"\r\n"))) <= 75
    assert not re.search(rb"(?<!\r)\n|\r(?!\n)|[\x00-\x09\x0b\x0c\x0e-\x1f]", content)
    lines = content.decode().replace("\r\n ", "").split("\r\n")
    assert [lines.count("BEGIN:VEVENT"), lines.count("END:VEVENT")] == [1, 1]
    calendar = icalendar.Calendar.from_ical(content)
    [event] = calendar.walk("VEVENT")
    written = re.sub("\r(?!\n)|[\x07\u2028]", " ", name[:120]).replace("\r\n", "\n")
    assert str(event["SUMMARY"]) == f"{written} ({written})"
    assert calendar["X-WR-CALNAME"] == calendar["NAME"] == icalendar.vText(f"{written} ({written})").to_ical().decode()


def test_a_feed_has_a_refresh_interval_and_answers_304_while_unchanged(
    cut: Service, mia: Staff, ada: Contact, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "MOST_OF_FEED", 99)
    appointment, path = booked(cut, ada, tomorrow()), path_of(mia)
    answer = read(path)
    head = Client(REMOTE_ADDR=an_address()).head(path)
    assert (head.status_code, head.content) == (200, b"")
    for shown in (answer, head):
        assert shown.headers["Cache-Control"] == "private, no-cache"
        assert "noindex" in shown.headers["X-Robots-Tag"]
        assert not shown.cookies
        assert "Cookie" not in shown.headers.get("Vary", "")
        assert shown.headers["ETag"] == answer.headers["ETag"]
    calendar = icalendar.Calendar.from_ical(answer.content)
    facts = {name: str(calendar[name]) for name in ("METHOD", "VERSION", "X-WR-CALNAME")}
    assert facts == {"METHOD": "PUBLISH", "VERSION": "2.0", "X-WR-CALNAME": f"{mia.name} ({cut.workspace.name})"}
    assert b"REFRESH-INTERVAL;VALUE=DURATION:PT1H\r\n" in answer.content
    assert b"X-PUBLISHED-TTL:PT1H\r\n" in answer.content

    def unchanged() -> bool:
        with monkeypatch.context() as patch:
            patch.setattr(feeds.FILES, "slot", None)  # no file may be made
            try:
                again = read(path, if_none_match=answer.headers["ETag"])
            except TypeError:
                return False
        assert (again.status_code, again.content) == (304, b"")
        return True

    assert unchanged()
    for change in (
        lambda: Contact.objects.update(name="Grace"),
        lambda: Contact.objects.update(phone="+4930999"),
        lambda: Appointment.objects.filter(pk=appointment.pk).update(calendar_sequence=3),
        lambda: ClassSessionFactory.create(workspace=cut.workspace, staff=mia, starts_at=tomorrow(15)),
        lambda: Workspace.objects.filter(pk=cut.workspace.pk).update(name="Other"),
    ):
        assert unchanged()
        change()
        assert not unchanged()
        answer = read(path)


def test_a_fetch_is_noted_once_an_hour_and_the_statements_stay_the_same(cut: Service, mia: Staff, ada: Contact) -> None:
    path, numbers = path_of(mia), list[int]()
    for _ in range(2):
        booked(cut, ada, tomorrow(9 + len(numbers)))
        ClassSessionFactory.create(workspace=cut.workspace, staff=mia, starts_at=tomorrow(15 + len(numbers)) + DAY)
        with CaptureQueriesContext(connection) as statements:
            assert len(events(path)) == 2 * (1 + len(numbers))
        numbers.append(len(statements))
    assert numbers[0] == numbers[1] <= 8
    feed = CalendarFeed.objects.get()
    for ago, is_noted in ((timedelta(minutes=59), False), (timedelta(minutes=61), True)):
        CalendarFeed.objects.update(last_fetched_at=now() - ago)
        read(path)
        feed.refresh_from_db()
        assert feed.last_fetched_at is not None
        assert (now() - feed.last_fetched_at < timedelta(minutes=5)) is is_noted


def test_whatever_is_not_served_reads_alike(a: Tenant, b: Tenant, mia: Staff) -> None:
    DomainFactory.create(agency=b.agency, host="app.other.localhost")
    DomainFactory.create(agency=a.agency, host="app.own.localhost")
    path = path_of(mia)
    token = path[10:-4]

    def answered(address: str = path, **headers: str) -> tuple[object, ...]:
        answer = read(address, **headers)
        named = ("Content-Type", "Cache-Control", "X-Robots-Tag", "Vary")
        return answer.status_code, answer.content, [answer.headers.get(name) for name in named]

    assert [answered()[0], answered(host="app.own.localhost")[0]] == [200, 200]
    found = [answered(f"/calendar/{one}.ics") for one in (token[:-1], f"{token}x", "x" * 43, "x" * 5_000, "ä" * 43)]
    found.append(answered(host="app.other.localhost"))
    suspend_workspace(workspace=a.workspace, now=now(), by=SYSTEM)
    found.append(answered())
    restore_workspace(workspace=a.workspace, now=now(), by=SYSTEM)
    suspend_agency(agency=a.agency, reason="unpaid", now=now(), by=SYSTEM)
    found.append(answered())
    restore_agency(agency=a.agency, by=SYSTEM)
    assert answered()[0] == 200
    delete_staff(staff=mia, now=now(), by=SYSTEM)
    found.append(answered())
    assert (found[0][0], len(set(map(str, found)))) == (404, 1)
    assert Client().post(path).status_code == 405


def test_an_address_and_a_network_read_only_so_often(mia: Staff, cut: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    path = path_of(mia)
    monkeypatch.setattr(feeds, "MOST_OF_FEED", 2)
    assert [read(path).status_code for _ in range(3)] == [200, 200, 429]
    other = path_of(StaffFactory.create(workspace=cut.workspace))
    refused = read(path)
    assert (refused.status_code, int(refused.headers["Retry-After"]) > 0) == (429, True)
    monkeypatch.setattr(feeds, "MOST_OF_NETWORK", 3)
    program = Client(REMOTE_ADDR=an_address())
    asked = (other, "/calendar/x.ics", "/calendar/y.ics", other)
    assert [program.get(one).status_code for one in asked] == [200, 404, 404, 429]
    monkeypatch.setattr(feeds, "MOST_OF_FEED", 99)
    with feeds.FILES.slot(), feeds.FILES.slot():
        busy = read(other)
        assert (busy.status_code, busy.headers["Retry-After"]) == (503, "60")
    remove_feed(staff=mia, by=SYSTEM)
    assert read(path).status_code == 404
