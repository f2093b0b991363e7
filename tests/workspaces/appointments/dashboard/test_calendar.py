"""The calendar by day and by week."""

from datetime import UTC, date, datetime, timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.factories import ClassSessionFactory, ContactFactory
from tests.tenants import Tenant
from tests.workspaces.appointments.dashboard.making import a_service, a_staff_member, an_appointment, at, move_to, text
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.appointments.dashboard.calendar_layout import Day, Entry, free_hours, gaps, place, shown_hours
from workspaces.appointments.models import Appointment, ExternalBusy, ExternalCalendar, Occupancy
from workspaces.appointments.services.hours import add_time_off
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer
BERLIN = ZoneInfo("Europe/Berlin")
PATH = "/app/calendar"


def an_entry(day: Day, begins: int, ends: int, title: str = "x") -> Entry:
    return Entry(kind="class", starts_at=day.moment(begins), ends_at=day.moment(ends), title=title)


def test_entries_that_overlap_stand_side_by_side_and_too_many_are_counted() -> None:
    day, hours = Day.of(date(2026, 12, 1), BERLIN), (480, 1080)
    entries = [an_entry(day, 540, 600, "a"), an_entry(day, 570, 630, "b"), an_entry(day, 600, 605, "c")]
    placed, hidden = place([*entries, an_entry(day, 700, 760, "d")], day, hours)
    shown = {one.entry.title: (one.block.row, one.block.rows, one.lane, one.lanes) for one in placed}
    assert shown == {"a": (5, 4, 1, 2), "b": (7, 4, 2, 2), "c": (9, 2, 1, 2), "d": (15, 5, 1, 1)}
    assert hidden == 0
    placed, hidden = place([an_entry(day, 540, 600, str(number)) for number in range(6)], day, hours)
    assert ([one.lane for one in placed], hidden) == ([1, 2, 3, 4], 2)


def test_a_day_is_read_by_the_clock_also_where_clocks_change() -> None:
    spring, autumn = Day.of(date(2027, 3, 28), BERLIN), Day.of(date(2026, 10, 25), BERLIN)
    assert spring.ends - spring.begins == timedelta(hours=23)
    assert autumn.ends - autumn.begins == timedelta(hours=25)
    assert spring.minutes(datetime(2027, 3, 28, 7, tzinfo=UTC), datetime(2027, 3, 28, 8, tzinfo=UTC)) == (540, 600)
    # From 02:50 until 02:10 after the clocks were set back: at least one row.
    first = datetime(2026, 10, 25, 0, 50, tzinfo=UTC)
    assert autumn.minutes(first, first + timedelta(minutes=20)) == (170, 185)
    # The part that lies in this day; nothing of another.
    assert autumn.minutes(first - timedelta(days=1), first) == (0, 170)
    assert autumn.minutes(first - timedelta(days=2), first - timedelta(days=1)) is None


def test_hours_are_widened_by_entries_and_shaded_where_nobody_works() -> None:
    day = Day.of(date(2026, 12, 1), BERLIN)
    assert shown_hours([(day, [], [])]) == (480, 1080)
    assert shown_hours([(day, [(420, 500)], [an_entry(day, 1100, 1150)])]) == (420, 1200)
    assert shown_hours([(day, [], [an_entry(day, 0, 1440)])]) == (480, 1080)
    assert gaps([(540, 720), (780, 1020)], (480, 1080)) == [(480, 540), (720, 780), (1020, 1080)]
    assert free_hours([(550, 610)], (480, 720)) == [(480, 540), (660, 720)]


@pytest.fixture
def owner(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


pytestmark = pytest.mark.django_db


def test_a_week_shows_what_is_planned_by_the_workspaces_clock(a: Tenant, owner: Client) -> None:
    Workspace.objects.filter(pk=a.workspace.pk).update(timezone="Asia/Kathmandu")  # UTC+05:45
    a.workspace.refresh_from_db()
    mia, ben = a_staff_member(a.workspace), a_staff_member(a.workspace, "Ben")
    cut = a_service(a.workspace, mia)
    made = an_appointment(cut, at(4, 15))
    session = ClassSessionFactory.create(workspace=a.workspace, staff=ben, starts_at=at(6, 15))
    add_time_off(staff=mia, starts_at=at(7, 15), ends_at=at(8, 15), reason="Dentist", now=now(), by=SYSTEM)
    calendar = ExternalCalendar.objects.create(staff=mia, name="Own", address="https://example.com/x.ics", host="x")
    ExternalBusy.objects.create(calendar=calendar, staff=mia, during=(at(9, 15), at(10, 15)))
    ExternalBusy.objects.create(calendar=calendar, staff=mia, during=(at(9, 45), at(10, 45)))
    day = at(4, 15).astimezone(ZoneInfo("Asia/Kathmandu")).date()
    page = owner.get(f"{PATH}?day={day}")
    shown = text(page)
    for words in (
        "Time zone: Asia/Kathmandu",
        "10:00 -11:00 Ada Lovelace Haircut · Mia",
        f"12:00 -13:00 {session.service.name} 0 of 10 seats taken · Ben",
        "13:00 -14:00 Time off Dentist · Mia",
        "15:00 -16:30 Busy in another calendar · Mia",
    ):
        assert words in shown
    assert f'href="/app/appointments/{made.uuid}"' in page.content.decode()
    assert "Ada Lovelace" not in text(owner.get(f"{PATH}?day={day + timedelta(days=7)}"))
    assert "Ada Lovelace" not in text(owner.get(f"{PATH}?day={day}&staff={ben.uuid}"))
    by_day = text(owner.get(f"{PATH}?view=day&day={day}"))
    assert by_day.index("Ben") < by_day.index("12:00 -13:00") < by_day.index("10:00 -11:00 Ada Lovelace Haircut")
    assert "New appointment: " in page.content.decode()
    assert f"at={day}T11%3A00&amp;staff={mia.uuid}" in owner.get(f"{PATH}?view=day&day={day}").content.decode()
    assert f"at={day}T10%3A00&amp;staff={mia.uuid}" not in owner.get(f"{PATH}?view=day&day={day}").content.decode()


def test_what_nobody_hosts_and_what_somebody_did_who_left_is_shown_by_day(a: Tenant, owner: Client) -> None:
    mia = a_staff_member(a.workspace)
    cut = a_service(a.workspace, mia)
    an_appointment(cut, at(10))
    ClassSessionFactory.create(workspace=a.workspace, starts_at=at(12))
    Appointment.objects.update(status="completed")
    mia.deleted_at = now()
    mia.save()
    shown = text(owner.get(f"{PATH}?view=day&day={at(10).date()}"))
    assert "Without staff" in shown
    assert "Ada Lovelace Haircut · Mia" in shown
    assert "0 of 10 seats taken" in shown


def test_odd_addresses_are_answered(a: Tenant, b: Tenant, owner: Client) -> None:
    stranger = a_staff_member(b.workspace, "Stranger")
    an_appointment(a_service(b.workspace, stranger), at(10))
    assert "No staff yet" in text(owner.get(f"{PATH}?view=day"))
    for query in ("day=x", "day=0001-01-01", "day=9999-12-31", "day=2000-01-01", "day=2199-12-31", "view=x", "day=%00"):
        assert owner.get(f"{PATH}?{query}").status_code == 200, query
        assert owner.get(f"{PATH}?view=day&{query}").status_code == 200, query
    for query in ("staff=x", f"staff={stranger.uuid}", "page=99999999999999999999"):
        assert "Stranger" not in text(owner.get(f"{PATH}?view=day&{query}"))
    assert "Ada Lovelace" not in text(owner.get(f"{PATH}?day={at(10).date()}"))


@pytest.mark.parametrize("view", ["day", "week"])
def test_more_staff_cost_no_more_queries(a: Tenant, owner: Client, view: str) -> None:
    contact = ContactFactory.create(workspace=a.workspace)
    staff = [a_staff_member(a.workspace, "Staff 0")]
    cut = a_service(a.workspace, *staff)
    an_appointment(cut, at(10), contact, staff=staff[0])
    path = f"{PATH}?view={view}&day={at(10).date()}"
    owner.get(path)
    with CaptureQueriesContext(connection) as with_one:
        owner.get(path)
    for number in range(1, 20):
        staff.append(a_staff_member(a.workspace, f"Staff {number}"))
        cut.staff.add(staff[-1])
        an_appointment(cut, at(10), contact, staff=staff[-1])
    with CaptureQueriesContext(connection) as with_twenty:
        shown = text(owner.get(path))
    assert shown.count("Haircut") == (20 if view == "day" else 2)
    assert len(with_twenty) == len(with_one)
    if view == "week":
        assert "18 more" in shown


def test_only_so_many_entries_are_read(a: Tenant, owner: Client) -> None:
    first = at(10)
    one = an_appointment(a_service(a.workspace, a_staff_member(a.workspace)), first)
    monday = at(0, days=8 - first.weekday())
    copies, five = [Appointment.objects.get(pk=one.pk) for _ in range(500)], timedelta(minutes=5)
    for number, copy in enumerate(copies):
        copy.pk, copy.uuid, copy.token, copy.token_digest = None, uuid4(), str(number), number.to_bytes(32)
        copy.starts_at, copy.ends_at = monday + number * five, monday + (number + 1) * five
    Appointment.objects.bulk_create(copies)
    Occupancy.objects.bulk_create(
        Occupancy(staff=copy.staff, during=(copy.starts_at, copy.ends_at), appointment=copy) for copy in copies
    )
    path = f"{PATH}?day={monday.date()}"
    assert "Only the first 500 entries" not in text(owner.get(path))
    move_to(one, monday + 500 * five)
    assert "Only the first 500 entries are shown." in text(owner.get(path))
