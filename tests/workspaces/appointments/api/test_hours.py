"""Working hours and times off on the workspace surface, and what they leave free."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from agency.models import ActivityEntry
from tests import furnished
from tests.factories import ServiceFactory, StaffFactory
from tests.factories.appointments import a_staff_member_who_always_works, tomorrow
from tests.tenants import Tenant, message
from tests.workspaces.appointments.api.test_appointments import availability, z
from workspaces.appointments.services import hours
from workspaces.catalogue.models import Service, Staff
from workspaces.subaccounts.models.workspaces import DAYS

a, b = furnished.a_with_customer, furnished.b_with_customer
pytestmark = pytest.mark.django_db
CLOSED: dict[str, list[list[str]]] = {day: [] for day in DAYS}
NINE_TO_ELEVEN = {day: [["09:00", "11:00"]] for day in DAYS}


def path_of(staff: Staff) -> str:
    return f"/staff/{staff.uuid}/working-hours"


def a_service_of(staff: Staff) -> Service:
    service: Service = ServiceFactory.create(
        workspace=staff.workspace, kind="appointment", step_minutes=60, staff=[staff]
    )
    return service


def starts(a: Tenant, service: Service) -> list[str]:
    """The starts of tomorrow in UTC."""
    found = a.workspace_api.get(availability(service, tomorrow(0), tomorrow(0) + timedelta(days=1))).json()["data"]
    return [one["starts_at"] for one in found]


def test_hours_are_written_and_read_and_the_business_s_count_without_them(a: Tenant) -> None:
    staff = StaffFactory.create(workspace=a.workspace)
    service = a_service_of(staff)
    a.workspace_api.patch("/workspace", {"timezone": "Asia/Kathmandu"})
    unset = {"timezone": "Asia/Kathmandu", "weekly": CLOSED, "exceptions": [], "follows_business": True}
    assert a.workspace_api.get(path_of(staff)).json()["data"] == unset
    assert starts(a, service) == []
    a.workspace_api.patch("/workspace", {"opening_hours": NINE_TO_ELEVEN})
    assert starts(a, service) == [z(tomorrow(3, 15)), z(tomorrow(4, 15))]
    exceptions = [{"date": f"{tomorrow():%Y-%m-%d}", "intervals": [["20:00", "21:00"], ["07:00", "08:00"]]}]
    body = {"timezone": "UTC", "weekly": {"monday": [["09:00", "17:00"]]}, "exceptions": exceptions}
    written = a.workspace_api.put(path_of(staff), body).json()["data"]
    assert written == {
        "timezone": "UTC",
        "weekly": {**CLOSED, "monday": [["09:00", "17:00"]]},
        "exceptions": [{**exceptions[0], "intervals": [["07:00", "08:00"], ["20:00", "21:00"]]}],
        "follows_business": False,
    }
    assert a.workspace_api.get(path_of(staff)).json()["data"] == written
    assert starts(a, service) == [z(tomorrow(7)), z(tomorrow(20))]
    a.workspace_api.put(path_of(staff), body)
    assert ActivityEntry.objects.filter(action="staff.hours_changed").count() == 1
    back = a.workspace_api.put(path_of(staff), {"weekly": None}).json()["data"]
    assert back == {**unset, "weekly": NINE_TO_ELEVEN}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"timezone": None}, "timezone"),
        ({"weekly": {"someday": []}}, "weekly"),
        ({"weekly": {"monday": [["10:00", "09:00"]]}}, "weekly.monday"),
        ({"weekly": {"monday": [["09:00", "10:00"], ["09:30", "11:00"]]}}, "weekly.monday"),
        ({"weekly": {"monday": [["09:00", "25:00"]]}}, "weekly.monday"),
        ({"weekly": {"monday": [["09:00", "09:01"]] * 7}}, "weekly.monday"),
        ({"exceptions": [{"date": "24.12.2026", "intervals": []}]}, "exceptions.0.date"),
        ({"exceptions": [{"date": "2026-02-30", "intervals": []}]}, "exceptions.0.date"),
        ({"exceptions": [{"date": "2026-12-24", "intervals": [["10:00", "09:00"]]}]}, "exceptions.0.intervals"),
        ({"exceptions": [{"date": "2026-12-24", "intervals": []}] * 2}, "exceptions"),
        ({"exceptions": [{"date": "2026-12-24", "intervals": []}] * 401}, "exceptions"),
    ],
)
def test_hours_that_cannot_be_are_refused(a: Tenant, change: dict[str, Any], field: str) -> None:
    staff = a_staff_member_who_always_works(a.workspace)
    before = a.workspace_api.get(path_of(staff)).json()
    body = {"timezone": "UTC", "weekly": NINE_TO_ELEVEN, "exceptions": [], **change}
    answer = a.workspace_api.put(path_of(staff), body)
    found = next(iter(answer.json()["errors"]))
    assert (answer.status_code, found.startswith(field)) == (422, True), answer.json()
    assert a.workspace_api.get(path_of(staff)).json() == before


def test_times_off_are_added_listed_and_removed(a: Tenant, b: Tenant) -> None:
    staff = a_staff_member_who_always_works(a.workspace)
    service, path = a_service_of(staff), f"/staff/{staff.uuid}/time-off"
    body = {"starts_at": z(tomorrow(1)), "ends_at": z(tomorrow(22)), "reason": " Holidays "}
    made = a.workspace_api.post(path, body)
    first = made.json()["data"]
    assert (made.status_code, first) == (201, {"id": first["id"], **body, "reason": "Holidays"})
    second = a.workspace_api.post(path, {**body, "ends_at": z(tomorrow(23)), "reason": None}).json()["data"]
    assert second["reason"] is None
    assert a.workspace_api.get(path).json()["data"] == [second, first]
    assert starts(a, service) == [z(tomorrow(0)), z(tomorrow(23))]
    foreign = b.workspace_api.delete(f"{path}/{first['id']}")
    assert (foreign.status_code, message(foreign)) == (404, "Staff member not found.")
    other = f"/staff/{StaffFactory.create(workspace=a.workspace).uuid}/time-off/{first['id']}"
    assert message(a.workspace_api.delete(other)) == "Time off not found."
    assert a.workspace_api.delete(f"{path}/{second['id']}").json() == {"data": {"deleted": True}}
    assert a.workspace_api.delete(f"{path}/{second['id']}").status_code == 404
    assert z(tomorrow(22)) in starts(a, service)
    kinds = ActivityEntry.objects.filter(action__startswith="staff.time_off").order_by("id")
    assert [entry.action for entry in kinds] == ["staff.time_off_added"] * 2 + ["staff.time_off_removed"]


def test_times_off_that_cannot_be_are_refused(a: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"/staff/{StaffFactory.create(workspace=a.workspace).uuid}/time-off"
    body = {"starts_at": z(tomorrow(1)), "ends_at": z(tomorrow(2))}
    for change, field in (
        ({"ends_at": z(tomorrow(1))}, "ends_at"),
        ({"ends_at": "2200-01-01T00:00:00Z"}, "ends_at"),
        ({"starts_at": "1999-01-01T00:00:00Z"}, "starts_at"),
        ({"reason": "x" * 201}, "reason"),
        ({"starts_at": "2026-12-24"}, "starts_at"),
    ):
        answer = a.workspace_api.post(path, {**body, **change})
        assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    unknown = a.workspace_api.post(f"/staff/{uuid4()}/time-off", body)
    assert (unknown.status_code, message(unknown)) == (404, "Staff member not found.")
    monkeypatch.setattr(hours, "MOST_TIMES_OFF", 1)
    assert [a.workspace_api.post(path, body).status_code for _ in range(2)] == [201, 403]
