"""Appointments, working hours and time off on the dashboard's pages."""

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from config.formats import format_day
from config.http import error_codes
from tests import furnished
from tests.agency.console.browsers import flashes
from tests.factories import ContactFactory, ServiceFactory, StaffFactory
from tests.tenants import Tenant
from tests.workspaces.appointments.dashboard.making import a_service, a_staff_member, an_appointment, at, move_to, text
from tests.workspaces.conversations.facts import a_conversation
from tests.workspaces.subaccounts.dashboard.clients import agency_client, dashboard_client, pickers
from workspaces.appointments.dashboard.external_calendars import FAILURES
from workspaces.appointments.models import Appointment, ExternalCalendar, TimeOff
from workspaces.appointments.services import calendar_reading
from workspaces.appointments.services.hours import add_time_off, hours_of, set_working_hours
from workspaces.appointments.services.moves import cancel_appointment
from workspaces.catalogue.models import Service
from workspaces.contacts.models import Contact
from workspaces.contacts.services import update_contact
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
NEW = "/app/appointments/new"


@pytest.fixture
def owner(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


@pytest.fixture
def ada(a: Tenant) -> Contact:
    return ContactFactory.create(workspace=a.workspace, name="Ada Lovelace", email="ada@example.com")


def times_in(page: Any) -> list[str]:
    """The times that a page lets people choose, as its form sends them."""
    return re.findall(r'name="starts_at" value="([^"]+)"', page.content.decode())


def test_an_appointment_is_made_from_a_search_to_a_free_time(a: Tenant, owner: Client, ada: Contact) -> None:
    Workspace.objects.filter(pk=a.workspace.pk).update(timezone="Europe/Berlin", currency="EUR")
    a.workspace.refresh_from_db()
    mia = a_staff_member(a.workspace)
    cut, _ = a_service(a.workspace, mia), a_service(a.workspace, mia, name="Beard")
    ServiceFactory.create(workspace=a.workspace, name="Yoga")
    begun = text(owner.get(f"{NEW}?search=LOVELACE"))
    assert "Ada Lovelace ada@example.com" in begun
    assert "Choose a contact and a service first." in begun
    assert "Yoga" not in begun
    assert "No contact matches." in text(owner.get(f"{NEW}?search=nobody"))
    assert owner.get(f"{NEW}?search=%00&contact=x&service=x&staff=x&from=x&at=x").status_code == 200
    day = at(0).date()
    path = f"{NEW}?contact={ada.uuid}&service={cut.uuid}&staff={mia.uuid}&at={day}T10:30"
    page = owner.get(path)
    assert f"time zone Europe/Berlin {day:%A}" in text(page)
    chosen = re.findall(r'value="([^"]+)" checked', page.content.decode())
    assert chosen == [datetime.combine(day, time(10, 30), ZoneInfo("Europe/Berlin")).astimezone(UTC).isoformat()]
    sent = {"contact": ada.uuid, "service": cut.uuid, "staff": mia.uuid, "starts_at": chosen[0], "note": "First visit"}
    made = owner.post(path, sent, follow=True)
    assert flashes(made) == ["Ada Lovelace has an appointment."]
    appointment = Appointment.objects.get()
    assert (appointment.source, appointment.note, appointment.timezone) == ("dashboard", "First visit", "Europe/Berlin")
    assert "10:30-11:30 Europe/Berlin" in text(made)
    assert appointment.starts_at.isoformat() not in times_in(owner.get(path))
    assert "10:30 is not free. Choose another time." in text(owner.get(path))
    taken = owner.post(path, sent)
    assert taken.status_code == 422
    assert "This time is no longer available." in text(taken)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"starts_at": ""}, "This field is required."),
        ({"starts_at": "2027-01-01T10:00"}, "Choose a time from the list."),
        ({"starts_at": "9" * 40}, "Choose a time from the list."),
        ({"contact": ""}, "This field is required."),
        ({"service": "yoga"}, "Select a valid choice."),
        ({"staff": "stranger"}, "Select a valid choice."),
        ({"contact": "stranger"}, "Select a valid choice."),
    ],
)
def test_what_does_not_fit_is_refused(
    a: Tenant, b: Tenant, owner: Client, ada: Contact, change: dict[str, str], message: str
) -> None:
    mia = a_staff_member(a.workspace)
    cut = a_service(a.workspace, mia)
    ids = {
        "yoga": ServiceFactory.create(workspace=a.workspace).uuid,
        "stranger": StaffFactory.create(workspace=b.workspace).uuid,
    }
    if change.get("contact") == "stranger":
        ids["stranger"] = ContactFactory.create(workspace=b.workspace).uuid
    change = {name: str(ids.get(value, value)) for name, value in change.items()}
    sent = {"contact": str(ada.uuid), "service": str(cut.uuid), "staff": str(mia.uuid)}
    answer = owner.post(NEW, {**sent, "starts_at": at(10).isoformat(), **change})
    assert answer.status_code == 422
    assert message in text(answer)
    assert not Appointment.objects.exists()


def test_a_week_without_free_times_names_the_first_free_day(a: Tenant, owner: Client, ada: Contact) -> None:
    mia = a_staff_member(a.workspace)
    cut = a_service(a.workspace, mia)
    add_time_off(staff=mia, starts_at=now(), ends_at=at(0, days=9), now=now(), by=SYSTEM)
    page = owner.get(f"{NEW}?contact={ada.uuid}&service={cut.uuid}")
    first = at(0, days=9).date()
    assert f"No time is free in these seven days. First free day: {format_day(first, 'MMMMEEEEd')}" in text(page)
    assert times_in(page) == []
    assert (
        times_in(owner.get(f"{NEW}?contact={ada.uuid}&service={cut.uuid}&from={first}"))[0] == at(9, days=9).isoformat()
    )
    nobody = a_service(a.workspace, name="Nobody does it")
    assert "Nobody provides this service yet." in text(owner.get(f"{NEW}?contact={ada.uuid}&service={nobody.uuid}"))
    endless = a_service(a.workspace, mia, name="Endless", duration_minutes=None)
    assert "This service has no duration." in text(owner.get(f"{NEW}?contact={ada.uuid}&service={endless.uuid}"))


def test_an_appointment_is_moved_through_its_states(a: Tenant, owner: Client, ada: Contact) -> None:
    mia, ben = a_staff_member(a.workspace), a_staff_member(a.workspace, "Ben")
    cut = a_service(a.workspace, mia, ben)
    made = an_appointment(cut, at(10), ada, staff=mia)
    path = f"/app/appointments/{made.uuid}"
    page = text(owner.get(path))
    for words in (
        "Ada Lovelace Booked",
        "Haircut",
        "Mia",
        "Price —",
        "API",
        "Appointment booked Automatic",
        str(made.token),
    ):
        assert words in page
    Appointment.objects.update(price=38, currency="USD")
    assert "Price $38.00 Source" in text(owner.get(path))
    assert "Complete" not in page
    assert flashes(owner.post(f"{path}/confirm", follow=True)) == ["The appointment is confirmed."]
    assert flashes(owner.post(f"{path}/confirm", follow=True))[-1] == "This appointment is confirmed already."
    assert flashes(owner.post(f"{path}/complete", follow=True))[-1] == "This appointment has not started yet."
    offered = owner.get(f"{path}/reschedule")
    assert at(10).isoformat() in times_in(offered)  # its own time is free for itself
    theirs = {"staff": str(ben.uuid), "starts_at": at(11).isoformat()}
    moved = owner.post(f"{path}/reschedule", theirs, follow=True)
    assert flashes(moved) == ["The appointment was rescheduled."]
    assert "Ben" in text(moved)
    made.refresh_from_db()
    assert (made.starts_at, made.staff) == (at(11), ben)
    assert owner.post(f"{path}/reschedule", {**theirs, "starts_at": at(20).isoformat()}).status_code == 422
    asked = text(owner.get(f"{path}/cancel"))
    assert "Ada Lovelace gets an e-mail to ada@example.com." in asked
    update_contact(contact=ada, now=now(), source=Contact.OptOutSource.DASHBOARD, email=None)
    assert "Nobody gets an e-mail, because no address is known." in text(owner.get(f"{path}/cancel"))
    cancelled = owner.post(f"{path}/cancel", {"reason": "Ill"}, follow=True)
    assert "Ada Lovelace Cancelled" in text(cancelled)
    assert "Link for the contact" not in text(cancelled)
    again = owner.post(f"{path}/cancel", {"reason": ""})
    assert (again.status_code, "This appointment is cancelled." in text(again)) == (422, True)


def test_what_has_begun_is_completed_or_missed(a: Tenant, owner: Client, ada: Contact) -> None:
    cut = a_service(a.workspace, a_staff_member(a.workspace))
    for number, (button, status) in enumerate((("complete", "completed"), ("miss", "missed")), start=1):
        made = an_appointment(cut, at(10), ada)
        move_to(made, now() - timedelta(minutes=5))
        assert "Missed" in text(owner.get(f"/app/appointments/{made.uuid}"))
        owner.post(f"/app/appointments/{made.uuid}/{button}")
        made.refresh_from_db()
        assert made.status == status
        move_to(made, at(10, days=-number))


def test_appointments_are_listed_and_filtered(a: Tenant, owner: Client, ada: Contact) -> None:
    mia, ben = a_staff_member(a.workspace), a_staff_member(a.workspace, "Ben")
    cut, beard = a_service(a.workspace, mia, ben), a_service(a.workspace, mia, name="Beard")
    first = an_appointment(cut, at(10), ada, staff=ben)
    an_appointment(beard, at(10, days=3), ContactFactory.create(workspace=a.workspace, name="Bob"))
    path = "/app/appointments"
    shown = text(owner.get(path))
    assert shown.index("Ada Lovelace Haircut Ben") < shown.index("Bob Beard Mia")
    descending = text(owner.get(f"{path}?sort=-starts"))
    assert descending.index("Bob Beard") < descending.index("Ada Lovelace Haircut")
    for query, is_found in (
        (f"service={cut.uuid}", True),
        (f"service={beard.uuid}", False),
        (f"staff={ben.uuid}", True),
        (f"staff={uuid4()}", False),
        ("status=booked", True),
        ("status=missed", False),
        ("status=x", False),
        (f"from={at(0).date()}&to={at(0).date()}", True),
        (f"from={at(0, days=2).date()}", False),
        ("to=2020-01-01", False),
        ("period=last-7-days", False),
        ("period=next-7-days", True),
        (f"contact={ada.uuid}", True),
        ("contact=x", False),
    ):
        assert ("Ada Lovelace Haircut" in text(owner.get(f"{path}?{query}"))) is is_found, query
    cancel_appointment(appointment=first, now=now(), by=SYSTEM)
    an_appointment(cut, at(12, days=2), ada)
    with CaptureQueriesContext(connection) as of_three:
        owner.get(path)
    for hour in range(9, 16):
        an_appointment(cut, at(hour, days=5), ada)
    with CaptureQueriesContext(connection) as of_ten:
        owner.get(path)
    assert len(of_ten) == len(of_three)


def test_a_contacts_appointments_stand_on_its_page_and_in_the_inbox(a: Tenant, owner: Client) -> None:
    conversation = a_conversation(a.channel)
    cut = a_service(a.workspace, a_staff_member(a.workspace))
    for path in (f"/app/contacts/{conversation.contact.uuid}", f"/app/inbox/{conversation.uuid}"):
        assert "No appointments" in text(owner.get(path))
    past = an_appointment(cut, at(9), conversation.contact)
    move_to(past, at(9, days=-30), status="missed")
    an_appointment(cut, at(11), conversation.contact)
    for path in (f"/app/contacts/{conversation.contact.uuid}", f"/app/inbox/{conversation.uuid}"):
        shown = text(owner.get(path))
        assert shown.index("11:00 Booked Haircut · Mia") < shown.index("09:00 Missed Haircut · Mia")


def test_working_hours_are_set_as_opening_hours_are(a: Tenant, owner: Client) -> None:
    opening = {"monday": [["10:00", "18:00"]]}
    Workspace.objects.filter(pk=a.workspace.pk).update(opening_hours=opening, timezone="Europe/Berlin")
    mia = StaffFactory.create(workspace=a.workspace, name="Mia")
    path = f"/app/staff/{mia.uuid}/hours"
    begun = owner.get(path).content.decode()
    assert 'name="follows_business" id="id_follows_business" checked' in re.sub(
        r'type="checkbox" |class="[^"]*" ', "", begun
    )
    assert 'name="weekly_monday_0_from" value="10:00"' in begun
    day, other = at(0, days=20).date(), at(0, days=30).date()
    sent = {
        "timezone": "Europe/Lisbon",
        **pickers("weekly_monday", "09:00-12:30", "14:00-18:00"),
        "exception_0_date": day.isoformat(),
        "exception_1_date": other.isoformat(),
        **pickers("exception_1_hours", "10:00-11:00"),
        "exception_2_date": "",
    }
    assert flashes(owner.post(path, sent, follow=True)) == ["The working hours were saved."]
    hours = hours_of(mia)
    assert (hours.timezone, hours.follows_business) == ("Europe/Lisbon", False)
    assert hours.weekly["monday"] == [["09:00", "12:30"], ["14:00", "18:00"]]
    assert [(one.date, one.intervals) for one in hours.exceptions] == [(day, []), (other, [["10:00", "11:00"]])]
    shown = owner.get(path).content.decode()
    assert f'value="{other}"' in shown
    assert "exception_4_date" in shown
    for change, message in (
        (pickers("weekly_tuesday", "late-"), "Enter both times"),
        (pickers("weekly_tuesday", "09:00-12:00", "11:00-13:00"), "must not overlap"),
        ({"exception_1_date": day.isoformat()}, "This date is here twice."),
        (pickers("exception_2_hours", "09:00-10:00"), "Enter the date for these hours."),
        ({"exception_2_date": "1999-01-01"}, "Enter a date of this century."),
        ({"timezone": "Mars/Base"}, "Time zone not recognised."),
    ):
        refused = owner.post(path, {**sent, **change})
        assert (refused.status_code, message in text(refused)) == (422, True), change
    copied = owner.get(f"{path}?copy").content.decode()
    assert 'name="weekly_monday_0_until" value="18:00"' in copied
    assert "These are the opening hours." in copied
    assert hours_of(mia) == hours
    owner.post(
        path,
        {
            **sent,
            "follows_business": "on",
            "exception_0_date": "",
            "exception_1_date": "",
            **pickers("exception_1_hours", "-"),
        },
    )
    after = hours_of(mia)
    assert (after.follows_business, after.timezone, after.exceptions) == (True, "Europe/Berlin", [])


def test_exceptions_of_the_past_stay_when_hours_are_saved(a: Tenant, owner: Client) -> None:
    mia, day = a_staff_member(a.workspace), at(0, days=-40).date()
    weekly = hours_of(mia).weekly
    set_working_hours(staff=mia, timezone="UTC", weekly=weekly, exceptions={day: []}, now=now(), by=SYSTEM)
    path = f"/app/staff/{mia.uuid}/hours"
    assert str(day) not in owner.get(path).content.decode()
    owner.post(path, {"timezone": "UTC", **pickers("weekly_monday", "09:00-12:00")})
    assert [one.date for one in hours_of(mia).exceptions] == [day]


def test_time_off_is_added_and_removed(a: Tenant, b: Tenant, owner: Client) -> None:
    Workspace.objects.filter(pk=a.workspace.pk).update(timezone="Europe/Berlin")
    mia = StaffFactory.create(workspace=a.workspace, name="Mia")
    path = f"/app/staff/{mia.uuid}/time-off"
    assert "No time off is planned." in text(owner.get(path))
    first, last = (date(now().year + 1, 7, day) for day in (1, 3))
    sent = {"starts_at": f"{first}T08:00", "ends_at": f"{last}T08:00", "reason": "Holiday"}
    added = owner.post(path, sent, follow=True)
    assert flashes(added) == ["The time off was added."]
    assert f"{first:%a}, 1 Jul {first.year}, 08:00 - {last:%a}, 3 Jul {last.year}, 08:00 Holiday" in text(added)
    time_off = TimeOff.objects.get()
    assert time_off.starts_at.isoformat() == f"{first}T06:00:00+00:00"
    for change in ({"ends_at": sent["starts_at"]}, {"starts_at": "soon"}, {"reason": "x" * 201}, {"ends_at": ""}):
        assert owner.post(path, {**sent, **change}).status_code == 422, change
    stranger = StaffFactory.create(workspace=b.workspace)
    assert owner.post(f"/app/staff/{stranger.uuid}/time-off/{time_off.uuid}/remove").status_code == 404
    other = StaffFactory.create(workspace=a.workspace)
    assert owner.post(f"/app/staff/{other.uuid}/time-off/{time_off.uuid}/remove").status_code == 404
    assert flashes(owner.post(f"{path}/{time_off.uuid}/remove", follow=True)) == ["The time off was removed."]
    assert not TimeOff.objects.exists()


def test_calendars_of_other_programs_are_added_and_their_failures_are_said(a: Tenant, owner: Client) -> None:
    mia = StaffFactory.create(workspace=a.workspace, name="Mia")
    path = f"/app/staff/{mia.uuid}/calendars"
    assert "No calendar is connected." in text(owner.get(path))
    secret = "https://93.184.215.14/private-7f/basic.ics"
    added = owner.post(path, {"name": "Family", "address": secret.replace("https", "webcal")}, follow=True)
    assert flashes(added) == ["Family was added."]
    assert "Family 93.184.215.14 · not read yet" in text(added)
    assert "private-7f" not in added.content.decode()
    calendar = ExternalCalendar.objects.get()
    assert calendar.address == secret
    for address in ("ftp://example.com/x.ics", "https://127.0.0.1/x.ics", "", "x" * 2_001):
        assert owner.post(path, {"name": "Other", "address": address}).status_code == 422, address
    rows = ExternalCalendar.objects.filter(pk=calendar.pk)
    for code, words in (
        ("http_4xx", "The server refuses access to the calendar."),
        ("not_a_calendar", "does not lead to an ICS calendar"),
        ("unheard_of", "The calendar could not be read."),
    ):
        rows.update(failure=code, failing_since=now(), read_at=now(), due_at=now() + timedelta(hours=6))
        assert words in text(owner.get(path))
    for other in (StaffFactory.create(workspace=a.workspace), mia):
        answer = owner.post(f"/app/staff/{other.uuid}/calendars/{calendar.uuid}/read")
        assert answer.status_code == (302 if other == mia else 404)
    calendar.refresh_from_db()
    assert calendar.due_at <= now()
    assert flashes(owner.post(f"{path}/{calendar.uuid}/remove", follow=True))[-1] == "Family was removed."
    assert not rows.exists()


def test_every_failure_of_a_reading_has_words() -> None:
    codes = {value for name, value in vars(error_codes).items() if name.isupper() and isinstance(value, str)}
    codes |= {*calendar_reading.REFUSALS.values(), "too_much_work", "http_3xx", "http_4xx", "http_5xx"}
    without = {code for code in codes if code not in FAILURES}
    assert without == {error_codes.FAILED, error_codes.WITHHELD}


def test_a_service_says_how_it_is_booked(a: Tenant, b: Tenant, owner: Client) -> None:
    mia, ben = StaffFactory.create(workspace=a.workspace, name="Mia"), StaffFactory.create(workspace=a.workspace)
    sent = {"name": "Haircut", "kind": "appointment", "duration_minutes": "45", "price": "40", "deposit": "10"}
    sent |= {"buffer_after": "5", "notice_minutes": "120", "horizon_days": "30", "step_minutes": "30", "bookable": "on"}
    assert owner.post("/app/services/new", {**sent, "staff": [mia.uuid, ben.uuid]}).status_code == 302
    cut = Service.objects.get()
    assert (cut.buffer_before, cut.buffer_after, cut.notice_minutes, cut.horizon_days) == (0, 5, 120, 30)
    assert (cut.step_minutes, str(cut.deposit), cut.bookable, {*cut.staff.all()}) == (30, "10.00", True, {mia, ben})
    path = f"/app/services/{cut.uuid}"
    assert owner.get(path).content.decode().count('name="staff"') == 2
    owner.post(path, {**sent, "deposit": "0", "bookable": "", "staff": [mia.uuid]})
    cut.refresh_from_db()
    assert (cut.deposit, cut.bookable, list(cut.staff.all())) == (None, False, [mia])
    stranger = StaffFactory.create(workspace=b.workspace)
    for change in ({"step_minutes": "1"}, {"horizon_days": "0"}, {"deposit": "41"}, {"staff": [stranger.uuid]}):
        assert owner.post(path, {**sent, **change}).status_code == 422, change
    # A class has none of these settings, whatever is sent.
    assert owner.post("/app/services/new", {**sent, "name": "Yoga", "kind": "class"}).status_code == 302
    assert Service.objects.get(name="Yoga").buffer_after == 0


def test_foreign_ids_are_not_found_and_viewers_see_no_buttons(a: Tenant, b: Tenant, owner: Client) -> None:
    mia = a_staff_member(b.workspace)
    theirs = an_appointment(a_service(b.workspace, mia), at(10))
    for page in ("", "/reschedule", "/cancel"):
        assert owner.get(f"/app/appointments/{theirs.uuid}{page}").status_code == 404
    for button in ("confirm", "complete", "miss", "cancel", "reschedule"):
        assert owner.post(f"/app/appointments/{theirs.uuid}/{button}").status_code == 404
    for page in ("hours", "time-off"):
        assert owner.get(f"/app/staff/{mia.uuid}/{page}").status_code == 404
    mine = an_appointment(a_service(a.workspace, a_staff_member(a.workspace)), at(10))
    viewer = agency_client(a.workspace, "viewer")
    shown = text(viewer.get(f"/app/appointments/{mine.uuid}"))
    assert "Reschedule" not in shown
    assert "/book/manage/" not in shown
    assert "New appointment" not in text(viewer.get("/app/calendar"))
    assert viewer.post(f"/app/appointments/{mine.uuid}/confirm").status_code == 403
