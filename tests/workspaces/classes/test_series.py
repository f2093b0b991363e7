"""Series of classes: their dates, the making of their classes, and changes from a date on."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils.timezone import now

from agency.models import ActivityEntry, NotificationEvent
from tests import furnished
from tests.factories import ClassSessionFactory, ServiceFactory, StaffFactory
from tests.parallel import at_once
from tests.tenants import Tenant, message
from tests.workspaces.classes.people import contacts
from workspaces.appointments.models import Occupancy
from workspaces.catalogue.models import Service
from workspaces.classes.models import ClassSeries, ClassSession
from workspaces.classes.services import add_participant
from workspaces.classes.services.series_dates import dates_of, times_of
from workspaces.classes.services.series_making import make_next_classes
from workspaces.classes.tasks import make_series

a, b = furnished.a_with_customer, furnished.b_with_customer

DAY = timedelta(days=1)
# A Monday of the next weeks.
FIRST = (now() + timedelta(days=10)).date()
FIRST -= FIRST.weekday() * DAY


def a_rule(**fields: Any) -> ClassSeries:
    values = {"first_date": date(2027, 1, 4), "start_time": time(18), "timezone": "Europe/Berlin", "interval": 1}
    return ClassSeries(**{**values, "duration_minutes": 60, "unit": "weeks", **fields})


def shown(rule: ClassSeries, *, after: date | None = None, through: date = date(2027, 12, 31)) -> list[str]:
    return [f"{day:%m-%d}" for day in dates_of(rule, after=after, through=through)]


def test_the_dates_of_a_rule() -> None:
    weekly = a_rule(weekdays=[0, 3])
    assert shown(weekly, through=date(2027, 1, 15)) == ["01-04", "01-07", "01-11", "01-14"]
    assert shown(weekly, after=date(2027, 1, 7), through=date(2027, 1, 12)) == ["01-11"]
    assert shown(a_rule(weekdays=[0], interval=2, count=3)) == ["01-04", "01-18", "02-01"]
    assert shown(a_rule(unit="days", interval=3, until=date(2027, 1, 10))) == ["01-04", "01-07", "01-10"]
    assert shown(a_rule(unit="months", first_date=date(2027, 1, 31), count=3)) == ["01-31", "03-31", "05-31"]
    assert shown(a_rule(unit="days", count=200), after=date(2027, 7, 20)) == ["07-21", "07-22"]


@pytest.mark.parametrize(
    ("zone", "start", "day", "expected"),
    [
        ("Europe/Berlin", time(18), date(2027, 3, 27), "03-27 17:00"),
        ("Europe/Berlin", time(18), date(2027, 3, 28), "03-28 16:00"),
        ("Europe/Berlin", time(2, 30), date(2027, 3, 28), "03-28 01:00"),  # skipped: the first moment after the gap
        ("Europe/Berlin", time(2, 30), date(2027, 10, 31), "10-31 00:30"),  # shown twice: the first of the two
        ("Asia/Kathmandu", time(18), date(2027, 3, 28), "03-28 12:15"),
    ],
)
def test_a_clock_change_keeps_the_hour(zone: str, start: time, day: date, expected: str) -> None:
    times = times_of(a_rule(timezone=zone, start_time=start), day)
    assert f"{times.starts_at.astimezone(UTC):%m-%d %H:%M}" == expected
    assert times.ends_at - times.starts_at == timedelta(hours=1)


def created(a: Tenant, **fields: Any) -> dict[str, Any]:
    service = Service.objects.of(a.workspace).filter(name="Yoga").first()
    service = service or ServiceFactory.create(workspace=a.workspace, name="Yoga", duration_minutes=45)
    body = {"service": str(service.uuid), "first_date": str(FIRST), "start_time": "18:00", "capacity": 5}
    answer = a.workspace_api.post("/classes/series", {"timezone": "Europe/Berlin", **body, **fields})
    assert answer.status_code == 201, answer.content
    return dict(answer.json()["data"])


def classes(series: dict[str, Any]) -> list[ClassSession]:
    return list(ClassSession.objects.filter(series__uuid=series["id"]).with_names().order_by("starts_at"))


def days(series: dict[str, Any], *, status: str = "scheduled") -> list[int]:
    """The days since the first date for which there are classes."""
    found = [one for one in classes(series) if one.status == status]
    return [((one.series_date or FIRST) - FIRST).days for one in found]


@pytest.mark.django_db
def test_a_series_is_created_and_its_classes_are_made(a: Tenant, b: Tenant) -> None:
    mia = StaffFactory.create(workspace=a.workspace, name="Mia")
    series = created(a, staff=str(mia.uuid), count=3)
    assert series == {
        "id": series["id"],
        "service": {"id": series["service"]["id"], "name": "Yoga"},
        "staff": {"id": str(mia.uuid), "name": "Mia"},
        "first_date": str(FIRST),
        "start_time": "18:00",
        "timezone": "Europe/Berlin",
        "duration_minutes": 45,
        "capacity": 5,
        "interval": 1,
        "unit": "weeks",
        "weekdays": ["monday"],
        "until": None,
        "count": 3,
        "status": "active",
        "made_through": None,
        "left_out": [],
        "created_at": series["created_at"],
    }
    make_series()
    assert days(series) == [0, 7, 14]
    first = classes(series)[0]
    assert (first.ends_at - first.starts_at, first.capacity, first.staff) == (timedelta(minutes=45), 5, mia)
    assert Occupancy.objects.filter(staff=mia).count() == 3
    read = a.workspace_api.get(f"/classes/series/{series['id']}").json()["data"]
    assert read["made_through"] is not None
    assert a.workspace_api.get("/classes/series").json()["data"] == [read]
    assert b.workspace_api.get(f"/classes/series/{series['id']}").status_code == 404
    assert b.workspace_api.get("/classes/series").json()["data"] == []
    assert ClassSeries.objects.get().due_at is None  # there are no more dates
    assert list(ActivityEntry.objects.values_list("action", flat=True)).count("class_series.created") == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "errors"),
    [
        ({"first_date": "2027-02-30"}, {"first_date"}),
        ({"first_date": "1999-01-01"}, {"first_date"}),
        ({"start_time": "25:00"}, {"start_time"}),
        ({"start_time": "18"}, {"start_time"}),
        ({"timezone": "Mars"}, {"timezone"}),
        ({"interval": 53}, {"interval"}),
        ({"unit": "seconds"}, {"unit"}),
        ({"weekdays": ["monday", "monday"]}, {"weekdays"}),
        ({"weekdays": ["x"]}, {"weekdays.0"}),
        ({"unit": "days", "weekdays": ["monday"]}, {"weekdays"}),
        ({"count": 201}, {"count"}),
        ({"count": 2, "until": "2100-01-01"}, {"count"}),
        ({"until": "2001-01-01"}, {"until"}),
        ({"capacity": 10_001}, {"capacity"}),
        ({"duration_minutes": 1_441}, {"duration_minutes"}),
    ],
)
def test_a_series_that_cannot_be_is_refused(a: Tenant, fields: dict[str, Any], errors: set[str]) -> None:
    service = ServiceFactory.create(workspace=a.workspace)
    body = {"service": str(service.uuid), "first_date": str(FIRST), "start_time": "18:00", "capacity": 5, **fields}
    answer = a.workspace_api.post("/classes/series", body)
    assert (answer.status_code, set(answer.json()["errors"])) == (422, errors)


@pytest.mark.django_db
def test_an_endless_series_is_made_up_to_a_horizon_that_moves_on(a: Tenant) -> None:
    series = created(a, unit="days", start_time="12:00", timezone="UTC")
    make_series()
    today = now().date()
    horizon = (today + 90 * DAY - FIRST).days
    assert days(series) == list(range(max(0, (today - FIRST).days), horizon + 1))
    assert not make_next_classes(now=now())
    made = len(classes(series))
    later = now() + timedelta(days=2, minutes=1)
    assert make_next_classes(now=later)
    assert len(classes(series)) == made + (later.date() - today).days
    assert not make_next_classes(now=now() + timedelta(days=2, minutes=2))


@pytest.mark.django_db
def test_a_series_that_began_long_ago_makes_what_is_still_to_come(a: Tenant) -> None:
    series = created(a, unit="days", first_date="2001-01-01", until=str(now().date() + 2 * DAY), timezone="UTC")
    assert make_next_classes(now=now())
    assert {one.series_date for one in classes(series)} >= {now().date() + DAY, now().date() + 2 * DAY}
    assert len(classes(series)) <= 3
    assert ClassSeries.objects.get().due_at is None


@pytest.mark.django_db
def test_a_date_on_which_the_host_is_busy_is_left_out_and_said(a: Tenant) -> None:
    mia = StaffFactory.create(workspace=a.workspace)
    at = datetime.combine(FIRST + 7 * DAY, time(17, 30), UTC)
    other = ClassSessionFactory.create(workspace=a.workspace, staff=mia, starts_at=at)
    series = created(a, staff=str(mia.uuid), timezone="UTC", count=3, start_time="17:40")
    make_series()
    assert days(series) == [0, 14]
    read = a.workspace_api.get(f"/classes/series/{series['id']}").json()["data"]
    [left_out] = read["left_out"]
    assert (left_out["date"], left_out["reason"]) == (str(FIRST + 7 * DAY), "host_busy")
    [event] = NotificationEvent.objects.filter(kind="class.left_out")
    assert (event.object_id, event.data) == (series["id"], {"service": "Yoga", "date": left_out["date"]})
    a.workspace_api.post(f"/classes/{other.uuid}/cancel")
    a.workspace_api.patch(f"/classes/series/{series['id']}", {"from": str(FIRST), "capacity": 6})
    make_series()
    assert days(series) == [0, 7, 14]
    assert {one.capacity for one in classes(series)} == {6}
    assert a.workspace_api.get(f"/classes/series/{series['id']}").json()["data"]["left_out"] == []


@pytest.mark.django_db
def test_a_change_moves_what_nobody_joined_and_keeps_the_rest(a: Tenant) -> None:
    mia, ben = (StaffFactory.create(workspace=a.workspace) for _ in range(2))
    series = created(a, staff=str(mia.uuid), count=6, timezone="UTC")
    make_series()
    before, joined, alone, waited, cancelled, free = classes(series)
    [ada] = contacts(a.workspace, 1)
    add_participant(session=joined, contact=ada, now=now())
    later = (alone.starts_at + timedelta(hours=1)).astimezone(ZoneInfo("Asia/Tokyo")).isoformat()
    moved = a.workspace_api.patch(f"/classes/{alone.uuid}", {"starts_at": later}).json()["data"]
    assert moved["ends_at"] == f"{alone.starts_at + timedelta(minutes=105):%Y-%m-%dT%H:%M:%SZ}"
    a.workspace_api.patch(f"/classes/{waited.uuid}", {"capacity": 5})
    a.workspace_api.post(f"/classes/{cancelled.uuid}/cancel")
    path = f"/classes/series/{series['id']}"
    changes = {"start_time": "19:00", "staff": str(ben.uuid), "from": str(FIRST + 7 * DAY)}
    outcome = a.workspace_api.patch(path, changes).json()["data"]
    assert (outcome["changed"], outcome["cancelled"], outcome["kept"]) == (2, 0, 2)
    assert outcome["series"]["start_time"] == "19:00"
    make_series()
    hours = [(one.starts_at.hour, one.staff_id, one.status) for one in classes(series)]
    kept = (18, mia.pk, "scheduled")
    new = (19, ben.pk, "scheduled")
    assert hours == [kept, kept, (19, mia.pk, "scheduled"), new, (18, mia.pk, "cancelled"), new]
    assert Occupancy.objects.filter(staff=ben).count() == 2
    assert {before.pk, joined.pk, free.pk} < {one.pk for one in classes(series)}


@pytest.mark.django_db
def test_a_new_rule_cancels_old_dates_and_makes_new_ones(a: Tenant) -> None:
    series = created(a, count=4)
    make_series()
    [ada] = contacts(a.workspace, 1)
    add_participant(session=classes(series)[1], contact=ada, now=now())
    path = f"/classes/series/{series['id']}"
    outcome = a.workspace_api.patch(path, {"weekdays": ["monday", "thursday"], "from": str(FIRST + DAY)})
    assert outcome.json()["data"]["cancelled"] == 2  # four dates end a week earlier now
    make_series()
    assert days(series) == [0, 3, 7, 10]
    outcome = a.workspace_api.patch(path, {"unit": "days", "weekdays": [], "interval": 2, "from": str(FIRST)})
    assert outcome.json()["data"]["kept"] == 1
    make_series()
    assert days(series) == [0, 2, 4, 6, 7]
    for refused in (str(now().date() - 2 * DAY), "2199-01-01"):
        answer = a.workspace_api.patch(path, {"from": refused})
        assert (answer.status_code, set(answer.json()["errors"])) == (422, {"from"})


@pytest.mark.django_db
def test_the_end_of_a_series_cancels_what_nobody_joined(a: Tenant) -> None:
    mia = StaffFactory.create(workspace=a.workspace)
    series = created(a, staff=str(mia.uuid))
    make_series()
    made = len(classes(series))
    [ada] = contacts(a.workspace, 1)
    add_participant(session=classes(series)[1], contact=ada, now=now())
    path = f"/classes/series/{series['id']}"
    in_use = a.workspace_api.delete(f"/staff/{mia.uuid}")
    assert in_use.status_code == 409
    outcome = a.workspace_api.delete(path).json()["data"]
    assert (outcome["series"]["status"], outcome["cancelled"], outcome["kept"]) == ("ended", made - 1, 1)
    assert days(series) == [7]
    make_series()
    assert days(series) == [7]
    for answer in (a.workspace_api.delete(path), a.workspace_api.patch(path, {"capacity": 7})):
        assert (answer.status_code, message(answer)) == (409, "This class series has ended.")


@pytest.mark.django_db
def test_a_series_keeps_its_service_and_staff(a: Tenant) -> None:
    mia = StaffFactory.create(workspace=a.workspace)
    series = created(a, staff=str(mia.uuid), first_date=str(FIRST + 300 * DAY))
    make_series()
    assert classes(series) == []
    for path, who in ((f"/staff/{mia.uuid}", "staff member"), (f"/services/{series['service']['id']}", "service")):
        answer = a.workspace_api.delete(path)
        assert (answer.status_code, message(answer)) == (409, f"A class series goes on with this {who}. End it first.")


@pytest.mark.django_db(transaction=True)
def test_several_workers_make_each_class_once(a: Tenant) -> None:
    series = [created(a, unit="days", count=30) for _ in range(2)]
    at_once(lambda _: make_next_classes(now=now()), times=8)
    make_series()
    for one in series:
        made = [session.series_date for session in classes(one)]
        assert len(made) == len(set(made)) == len([day for day in range(30) if FIRST + day * DAY > now().date()])
