"""Appointments and free times on the workspace surface."""

from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from tests import furnished
from tests.factories import ContactFactory, ServiceFactory, StaffFactory
from tests.factories.appointments import (
    ALWAYS,
    AppointmentFactory,
    a_bookable_service,
    a_time_off,
    move_to_the_past,
    tomorrow,
)
from tests.tenants import Tenant, message
from tests.workspaces.topics import recorded_events, subscribe_to
from workspaces.appointments import api
from workspaces.appointments.models import Appointment
from workspaces.appointments.services.availability import free_times
from workspaces.appointments.services.hours import add_time_off, set_working_hours
from workspaces.catalogue.models import Service
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models.workspaces import DAYS

a, b = furnished.a_with_customer, furnished.b_with_customer
pytestmark = pytest.mark.django_db
NOTHING_FREE: dict[str, Any] = {"data": [], "next_from": None}
TAKEN = (409, "This time is no longer available.")


def z(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def body(service: Service, contact: Contact, starts_at: datetime, **more: Any) -> dict[str, Any]:
    return {"service": str(service.uuid), "contact": str(contact.uuid), "starts_at": z(starts_at), **more}


def availability(service: Service, first: datetime, last: datetime, **more: Any) -> str:
    asked = {"service": service.uuid, "from": z(first), "to": z(last), **more}
    return "/availability?" + "&".join(f"{name}={value}" for name, value in asked.items())


def move(a: Tenant, appointment: Appointment | dict[str, Any], name: str, sent: Any = None) -> tuple[int, Any]:
    own = appointment["id"] if isinstance(appointment, dict) else appointment.uuid
    answer = a.workspace_api.post(f"/appointments/{own}/{name}", sent or {})
    return answer.status_code, answer.json()["data"] if answer.status_code == 200 else message(answer)


def test_a_free_time_is_booked_and_the_appointment_is_read(a: Tenant) -> None:
    a.workspace_api.patch("/workspace", {"currency": "EUR", "timezone": "Europe/Berlin"})
    service = a_bookable_service(a.workspace, price=24.5, step_minutes=60)
    [staff] = service.staff.all()
    contact = ContactFactory.create(workspace=a.workspace, name="Ada", phone="+4930123456")
    found = a.workspace_api.get(availability(service, tomorrow(9), tomorrow(11))).json()
    assert found == {
        "data": [
            {"starts_at": z(tomorrow(hour)), "ends_at": z(tomorrow(hour + 1)), "staff": [str(staff.uuid)]}
            for hour in (9, 10)
        ],
        "next_from": None,
    }
    booked = a.workspace_api.post("/appointments", body(service, contact, tomorrow(10)))
    row = Appointment.objects.get()
    expected = {
        "id": str(row.uuid),
        "service": {"id": str(service.uuid), "name": service.name},
        "staff": {"id": str(staff.uuid), "name": staff.name},
        "contact": {"id": str(contact.uuid), "name": "Ada", "phone": "+4930123456"},
        "starts_at": z(tomorrow(10)),
        "ends_at": z(tomorrow(11)),
        "status": "booked",
        "timezone": "Europe/Berlin",
        "price": 24.5,
        "currency": "EUR",
        "manage_url": f"http://testserver/book/manage/{row.token}",
        "created_at": booked.json()["data"]["created_at"],
    }
    assert (booked.status_code, list(booked.json()["data"])) == (201, list(expected))
    assert booked.json()["data"]["manage_url"].endswith(f"/book/manage/{row.token}")
    expected["manage_url"] = booked.json()["data"]["manage_url"]
    assert booked.json()["data"] == expected == a.workspace_api.get(f"/appointments/{row.uuid}").json()["data"]
    assert a.workspace_api.get("/appointments").json()["data"] == [expected]
    left = a.workspace_api.get(availability(service, tomorrow(9), tomorrow(11))).json()["data"]
    assert [one["starts_at"] for one in left] == [z(tomorrow(9))]
    again = a.workspace_api.post("/appointments", body(service, contact, tomorrow(10)))
    assert (again.status_code, message(again)) == TAKEN
    assert ActivityEntry.objects.get(action="appointment.booked").details == {"starts_at": tomorrow(10).isoformat()}


def test_the_bookers_clock_is_the_named_one_else_the_contacts(a: Tenant) -> None:
    service = a_bookable_service(a.workspace)
    contact = ContactFactory.create(workspace=a.workspace, timezone="Asia/Kathmandu")
    for hour, more, zone in ((9, {}, "Asia/Kathmandu"), (12, {"timezone": "America/Lima"}, "America/Lima")):
        made = a.workspace_api.post("/appointments", body(service, contact, tomorrow(hour), **more)).json()["data"]
        assert made["timezone"] == zone


@pytest.mark.parametrize(
    ("change", "status", "fields"),
    [
        ({"service": None, "contact": "x", "starts_at": "tomorrow"}, 422, ["service", "contact", "starts_at"]),
        ({"service": str(uuid4())}, 404, "Service not found."),
        ({"contact": str(uuid4())}, 404, "Contact not found."),
        ({"staff": str(uuid4())}, 404, "Staff member not found."),
        ({"timezone": "Mars/Olympus"}, 422, ["timezone"]),
        ({"starts_at": "9999-12-30T10:00:00Z"}, *TAKEN),
        ({"starts_at": "0001-01-02T10:00:00Z"}, *TAKEN),
    ],
)
def test_a_booking_that_cannot_be_is_refused(a: Tenant, change: Any, status: int, fields: Any) -> None:
    wanted = {**body(a_bookable_service(a.workspace), a.contact, tomorrow()), **change}
    answer = a.workspace_api.post("/appointments", wanted)
    found = list(answer.json()["errors"]) if status == 422 else message(answer)
    assert (answer.status_code, found) == (status, fields)


def test_only_what_is_the_workspaces_own_can_be_booked(a: Tenant, b: Tenant) -> None:
    own, foreign = a_bookable_service(a.workspace), a_bookable_service(b.workspace)
    for wanted, text in (
        (body(foreign, a.contact, tomorrow()), "Service not found."),
        (body(own, b.contact, tomorrow()), "Contact not found."),
        (body(own, a.contact, tomorrow(), staff=str(foreign.staff.get().uuid)), "Staff member not found."),
    ):
        answer = a.workspace_api.post("/appointments", wanted)
        assert (answer.status_code, message(answer)) == (404, text)
    assert a.workspace_api.get(availability(foreign, tomorrow(9), tomorrow(11))).json() == NOTHING_FREE
    for kind, field in (("class", "service"), ("appointment", "service")):
        service = ServiceFactory.create(workspace=a.workspace, kind=kind, duration_minutes=None)
        answer = a.workspace_api.post("/appointments", body(service, a.contact, tomorrow()))
        assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    other = str(StaffFactory.create(workspace=a.workspace).uuid)
    answer = a.workspace_api.post("/appointments", body(own, a.contact, tomorrow(), staff=other))
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["staff"])


def test_availability_wants_a_range_of_at_most_31_days(a: Tenant) -> None:
    service, first = a_bookable_service(a.workspace, step_minutes=1_440), tomorrow(0)
    days = timedelta(days=31)
    assert len(a.workspace_api.get(availability(service, first, first + days)).json()["data"]) == 31
    for path, field in (
        (availability(service, first, first + days + timedelta(seconds=1)), "to"),
        (availability(service, first, first), "to"),
        (f"/availability?service={service.uuid}&from={z(first)}", "to"),
        (f"/availability?service={service.uuid}&to={z(first)}", "from"),
        (f"/availability?from={z(first)}&to={z(first)}", "service"),
        (f"/availability?service={service.uuid}&from=now&to={z(first)}", "from"),
    ):
        answer = a.workspace_api.get(path)
        assert (answer.status_code, list(answer.json()["errors"])) == (422, [field]), path
    unknown = availability(service, first, first + days, staff=uuid4())
    assert a.workspace_api.get(unknown).json() == NOTHING_FREE
    edge = f"/availability?service={service.uuid}&from=9999-12-29T00:00:00Z&to=9999-12-31T23:59:59Z"
    assert a.workspace_api.get(edge).json() == NOTHING_FREE


def test_a_client_that_follows_the_answers_gets_every_free_time_once(
    a: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = a_bookable_service(a.workspace, people=3, step_minutes=5)
    [early, _, away] = service.staff.order_by("pk")
    weekly = {**ALWAYS, DAYS[tomorrow().weekday()]: [["00:00", "08:00"]]}
    set_working_hours(staff=early, timezone="Asia/Kathmandu", weekly=weekly, exceptions={}, now=now(), by=SYSTEM)
    a_time_off(away)
    first, last = tomorrow(0), tomorrow(0) + timedelta(days=9, seconds=1)
    whole = free_times(workspace=a.workspace, service=service, first=first, last=last, now=now())
    expected = [(z(one.starts_at), [str(member.uuid) for member in one.staff]) for one in whole]
    assert {len(staff) for _, staff in expected} == {1, 2, 3}
    random = Random(20_261_128)
    for most in (len(expected) * 3, 2_000, *(random.randint(300, 4_000) for _ in range(2))):
        monkeypatch.setattr(api, "MOST_NAMED", most)
        found: list[tuple[str, list[str]]] = []
        begin = z(first)
        while begin:
            path = availability(service, first, last).replace(z(first), begin)
            answer = a.workspace_api.get(path).json()
            part = [(one["starts_at"], one["staff"]) for one in answer["data"]]
            # It ends with the time that reaches the limit, or with the range.
            assert sum(len(staff) for _, staff in part[:-1]) < most
            assert answer["next_from"] is None or sum(len(staff) for _, staff in part) >= most
            found, begin = found + part, answer["next_from"]
        assert found == expected, most


def test_the_longest_answer_is_bounded(a: Tenant) -> None:
    """One person's times are always answered whole."""
    for people, number in ((1, 31 * 288), (2, 5_000)):
        service = a_bookable_service(a.workspace, step_minutes=5, people=people)
        answer = a.workspace_api.get(availability(service, tomorrow(0), tomorrow(0) + timedelta(days=31)))
        found = answer.json()
        assert (len(found["data"]), len(answer.content) < 1_200_000) == (number, True)
        assert found["next_from"] == (None if people == 1 else z(tomorrow(0) + timedelta(minutes=5 * number)))


def test_an_answer_goes_on_after_days_without_a_free_time(a: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "MOST_NAMED", 1)
    service, first = a_bookable_service(a.workspace, step_minutes=1_440), tomorrow(0)
    [staff] = service.staff.all()
    begins, ends = first + timedelta(hours=1), first + timedelta(days=20)
    add_time_off(staff=staff, starts_at=begins, ends_at=ends, now=now(), by=SYSTEM)
    path = availability(service, first, first + timedelta(days=31))
    assert a.workspace_api.get(path).json()["next_from"] == z(ends)
    path = availability(service, first, ends)
    assert a.workspace_api.get(path).json()["next_from"] is None


def test_one_request_books_once_however_often_it_is_sent(a: Tenant) -> None:
    wanted = body(a_bookable_service(a.workspace), a.contact, tomorrow())
    answers = [a.workspace_api.post("/appointments", wanted, idempotency_key="one") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json() == answers[1].json()
    assert Appointment.objects.count() == 1


# Moves ----------------------------------------------------------------------------------------------------------

REFUSALS = {
    "confirmed": "This appointment is confirmed already.",
    "cancelled": "This appointment is cancelled.",
    "completed": "This appointment is completed.",
    "missed": "This appointment was missed.",
}
# What may follow each status. The appointment has started.
FOLLOWS = {
    "booked": {"confirm": "confirmed", "cancel": "cancelled", "complete": "completed", "miss": "missed"},
    "confirmed": {"cancel": "cancelled", "complete": "completed", "miss": "missed"},
    "cancelled": {},
    "completed": {},
    "missed": {},
}
MOVE_TO = {"confirmed": "confirm", "cancelled": "cancel", "completed": "complete", "missed": "miss"}


@pytest.mark.parametrize("status", FOLLOWS)
def test_each_status_allows_its_moves_and_no_others(a: Tenant, status: str) -> None:
    service = a_bookable_service(a.workspace)
    for number, name in enumerate(("confirm", "cancel", "complete", "miss", "reschedule")):
        booked = AppointmentFactory.create(workspace=a.workspace, service=service, starts_at=tomorrow(2 * number))
        move_to_the_past(booked)
        if status != "booked":
            assert move(a, booked, MOVE_TO[status])[1]["status"] == status
        code, found = move(a, booked, name, {"starts_at": z(tomorrow(2 * number + 1))})
        if name == "reschedule" and status in ("booked", "confirmed"):
            assert (code, found["status"], found["starts_at"]) == (200, status, z(tomorrow(2 * number + 1)))
        elif name in FOLLOWS[status]:
            assert (code, found["status"]) == (200, FOLLOWS[status][name])
        else:
            assert (code, found) == (409, REFUSALS[status])


def test_nothing_is_completed_or_missed_before_it_starts(a: Tenant) -> None:
    booked = AppointmentFactory.create(workspace=a.workspace)
    for name in ("complete", "miss"):
        assert move(a, booked, name) == (409, "This appointment has not started yet.")


def test_a_move_follows_the_rules_of_a_booking(a: Tenant) -> None:
    service = a_bookable_service(a.workspace, people=2)
    one, two = service.staff.order_by("pk")
    mine = AppointmentFactory.create(workspace=a.workspace, service=service, staff=one)
    AppointmentFactory.create(workspace=a.workspace, service=service, staff=two, starts_at=tomorrow(12))
    theirs = {"starts_at": z(tomorrow(12)), "staff": str(two.uuid)}
    assert move(a, mine, "reschedule", theirs) == TAKEN
    assert move(a, mine, "reschedule", {"starts_at": z(tomorrow(10, 7))}) == TAKEN
    assert move(a, mine, "reschedule", {"starts_at": z(tomorrow(10) - timedelta(days=3))}) == TAKEN
    code, moved = move(a, mine, "reschedule", {"starts_at": z(tomorrow(12))})
    assert (code, moved["starts_at"], moved["ends_at"]) == (200, z(tomorrow(12)), z(tomorrow(13)))
    other = a_bookable_service(a.workspace).staff.get()
    answer = a.workspace_api.post(f"/appointments/{mine.uuid}/reschedule", {**theirs, "staff": str(other.uuid)})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["staff"])


def test_subscribers_are_told_of_each_move(a: Tenant) -> None:
    service = a_bookable_service(a.workspace, people=2)
    one, two = service.staff.order_by("pk")
    kinds = ("booked", "confirmed", "rescheduled", "cancelled", "completed", "missed")
    subscribe_to(a.workspace, *(f"appointment.{kind}" for kind in kinds))
    wanted = body(service, a.contact, tomorrow(10), staff=str(one.uuid))
    booked = a.workspace_api.post("/appointments", wanted).json()["data"]
    _, confirmed = move(a, booked, "confirm")
    _, moved = move(a, booked, "reschedule", {"starts_at": z(tomorrow(10)), "staff": str(two.uuid)})
    move(a, booked, "reschedule", {"starts_at": z(tomorrow(10)), "staff": str(two.uuid)})  # changes nothing
    _, later = move(a, booked, "reschedule", {"starts_at": z(tomorrow(14))})
    _, cancelled = move(a, booked, "cancel", {"reason": "Ill"})
    to_two = {"staff": {"from": str(one.uuid), "to": str(two.uuid)}}
    to_14 = {
        "starts_at": {"from": z(tomorrow(10)), "to": z(tomorrow(14))},
        "ends_at": {"from": z(tomorrow(11)), "to": z(tomorrow(15))},
    }
    assert recorded_events(a.workspace) == [
        ("appointment.booked", {"appointment": booked}),
        ("appointment.confirmed", {"appointment": confirmed}),
        ("appointment.rescheduled", {"appointment": moved, "changes": to_two}),
        ("appointment.rescheduled", {"appointment": later, "changes": to_14}),
        ("appointment.cancelled", {"appointment": cancelled}),
    ]
    assert (later["status"], cancelled["status"], cancelled["starts_at"]) == ("confirmed", "cancelled", z(tomorrow(14)))
    entry = ActivityEntry.objects.get(action="appointment.cancelled")
    assert (entry.details["reason"], entry.actor_kind) == ("Ill", "workspace_key")


# Lists ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        (lambda rows: f"service={rows[1].service.uuid}", [0, 1, 2]),
        (lambda rows: f"staff={rows[3].staff.uuid}", [3]),
        (lambda rows: f"contact={rows[2].contact.uuid}", [2]),
        (lambda rows: "status=cancelled", [1]),
        (lambda rows: "status=lost", []),
        (lambda rows: f"contact={uuid4()}", []),
        (lambda rows: f"starts_after={z(tomorrow(3))}&starts_before={z(tomorrow(6))}", [1, 2]),
    ],
)
def test_appointments_are_filtered(a: Tenant, asked: Callable[[list[Appointment]], str], numbers: list[int]) -> None:
    service = a_bookable_service(a.workspace)
    rows = [
        AppointmentFactory.create(workspace=a.workspace, starts_at=tomorrow(3 * number), **more)
        for number, more in enumerate(({"service": service}, {"service": service}, {"service": service}, {}))
    ]
    move(a, rows[1], "cancel")
    found = a.workspace_api.get(f"/appointments?{asked(rows)}").json()["data"]
    assert [one["id"] for one in found] == [str(rows[number].uuid) for number in numbers]


def test_a_page_of_appointments_costs_the_same_however_many_there_are(a: Tenant) -> None:
    assert a.workspace_plaintext
    costs = []
    for hour in range(4):
        AppointmentFactory.create(workspace=a.workspace, starts_at=tomorrow(hour))
        with CaptureQueriesContext(connection) as queries:
            assert len(a.workspace_api.get("/appointments").json()["data"]) == hour + 1
        costs.append(len(queries))
    assert len(set(costs[1:])) == 1
