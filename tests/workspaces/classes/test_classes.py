"""Group classes on the workspace surface."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.models import ActivityEntry
from tests import furnished
from tests.factories import ClassSessionFactory, ServiceFactory, StaffFactory
from tests.tenants import Tenant, message
from tests.workspaces.classes.people import contacts
from workspaces.catalogue.services import staff_to_choose
from workspaces.classes.models import ClassSession
from workspaces.classes.services import complete_ended_classes
from workspaces.classes.tasks import complete_ended

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
FIELDS = ["id", "service", "staff", "starts_at", "ends_at", "capacity", "participants_count", "status"]
START = "2027-03-01T18:00:00+01:00"


def scheduled(a: Tenant, **fields: Any) -> dict[str, Any]:
    service = fields.pop("service", None) or ServiceFactory.create(workspace=a.workspace)
    answer = a.workspace_api.post(
        "/classes", {"service": str(service.uuid), "starts_at": START, "capacity": 2, **fields}
    )
    assert answer.status_code == 201, answer.content
    return dict(answer.json()["data"])


def over(session: ClassSession) -> None:
    """Let it have ended a minute ago."""
    began = now() - timedelta(hours=1)
    ClassSession.objects.filter(pk=session.pk).update(starts_at=began, ends_at=now() - timedelta(minutes=1))


def test_a_class_is_scheduled_and_read(a: Tenant) -> None:
    service = ServiceFactory.create(workspace=a.workspace, name="Yoga", duration_minutes=45)
    staff = StaffFactory.create(workspace=a.workspace, name="Mia")
    session = scheduled(a, service=service, staff=str(staff.uuid))
    assert list(session) == FIELDS
    assert session == {
        "id": session["id"],
        "service": {"id": str(service.uuid), "name": "Yoga"},
        "staff": {"id": str(staff.uuid), "name": "Mia"},
        "starts_at": "2027-03-01T17:00:00Z",
        "ends_at": "2027-03-01T17:45:00Z",
        "capacity": 2,
        "participants_count": 0,
        "status": "scheduled",
    }
    assert a.workspace_api.get(f"/classes/{session['id']}").json()["data"] == session
    alone = scheduled(a, service=service, ends_at="2027-03-01T19:00:00+01:00")
    assert (alone["staff"], alone["ends_at"]) == (None, "2027-03-01T18:00:00Z")
    assert a.workspace_api.get("/classes").json()["data"] == [session, alone]
    assert ActivityEntry.objects.filter(action="class.scheduled").count() == 2


@pytest.mark.parametrize(
    ("fields", "errors"),
    [
        ({"starts_at": None, "capacity": None}, {"starts_at", "capacity"}),
        ({"starts_at": "2027-03-01T18:00:00"}, {"starts_at"}),
        ({"starts_at": "9999-12-31T23:59:59Z"}, {"starts_at"}),
        ({"starts_at": "0001-01-01T00:00:00+14:00"}, {"starts_at"}),
        ({"ends_at": START}, {"ends_at"}),
        ({"ends_at": "9999-12-31T23:59:59Z"}, {"ends_at"}),
        ({"capacity": 0}, {"capacity"}),
        ({"capacity": 10_001}, {"capacity"}),
        ({"capacity": "2"}, {"capacity"}),
    ],
)
def test_a_class_that_cannot_be_is_refused(a: Tenant, fields: dict[str, Any], errors: set[str]) -> None:
    service = ServiceFactory.create(workspace=a.workspace)
    body = {"service": str(service.uuid), "starts_at": START, "capacity": 2, **fields}
    answer = a.workspace_api.post("/classes", body)
    assert (answer.status_code, set(answer.json()["errors"])) == (422, errors)


def test_a_class_needs_a_class_service_and_an_end(a: Tenant) -> None:
    appointment = ServiceFactory.create(workspace=a.workspace, kind="appointment")
    endless = ServiceFactory.create(workspace=a.workspace, duration_minutes=None)
    for service, errors in (
        (appointment, {"service": ["The service field must name a service of the kind class."]}),
        (endless, {"ends_at": ["The ends at field is required, as the service has no duration."]}),
    ):
        body = {"service": str(service.uuid), "starts_at": START, "capacity": 2}
        answer = a.workspace_api.post("/classes", body)
        assert (answer.status_code, answer.json()["errors"]) == (422, errors)


def test_what_is_not_the_workspaces_own_is_not_found(a: Tenant, b: Tenant) -> None:
    service, staff = ServiceFactory.create(workspace=b.workspace), StaffFactory.create(workspace=b.workspace)
    own = ServiceFactory.create(workspace=a.workspace)
    for body, sentence in (
        ({"service": str(service.uuid)}, "Service not found."),
        ({"service": str(own.uuid), "staff": str(staff.uuid)}, "Staff member not found."),
    ):
        answer = a.workspace_api.post("/classes", {"starts_at": START, "capacity": 2, **body})
        assert (answer.status_code, message(answer)) == (404, sentence)
    foreign = ClassSessionFactory.create(workspace=b.workspace)
    assert message(a.workspace_api.get(f"/classes/{foreign.uuid}")) == "Class not found."


def test_classes_are_listed_by_their_start_and_filtered(a: Tenant, b: Tenant) -> None:
    ClassSessionFactory.create(workspace=b.workspace)
    yoga, boxing = (ServiceFactory.create(workspace=a.workspace, name=name) for name in ("Yoga", "Boxing"))
    mia = StaffFactory.create(workspace=a.workspace, name="Mia")
    late = scheduled(a, service=yoga, starts_at="2027-03-03T10:00:00Z", staff=str(mia.uuid))["id"]
    early = scheduled(a, service=boxing, starts_at="2027-03-01T10:00:00Z")["id"]
    middle = scheduled(a, service=yoga, starts_at="2027-03-02T10:00:00Z")["id"]
    a.workspace_api.post(f"/classes/{middle}/cancel")

    def found(query: str) -> list[str]:
        return [row["id"] for row in a.workspace_api.get(f"/classes?{query}").json()["data"]]

    assert found("") == [early, middle, late]
    assert found(f"service={yoga.uuid}") == [middle, late]
    assert found(f"staff={mia.uuid}") == [late]
    assert found("status=cancelled") == [middle]
    assert found("starts_after=2027-03-02T10:00:00Z") == [middle, late]
    assert found("starts_before=2027-03-02T10:00:00Z") == [early, middle]
    assert found("starts_after=2027-03-02T11:00:00%2B01:00&starts_before=2027-03-02T10:00:00Z") == [middle]
    assert found("status=over") == found("service=x") == found(f"staff={uuid.uuid4()}") == []
    assert found("starts_after=0001-01-01T00:00:00Z") == [early, middle, late]
    for name in ("starts_after", "starts_before"):
        answer = a.workspace_api.get(f"/classes?{name}=tomorrow")
        assert (answer.status_code, list(answer.json()["errors"])) == (422, [name])


def test_a_class_is_cancelled_once(a: Tenant) -> None:
    path = f"/classes/{scheduled(a)['id']}"
    first, again = (a.workspace_api.post(f"{path}/cancel") for _ in range(2))
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json()["data"]["status"] == again.json()["data"]["status"] == "cancelled"
    assert ActivityEntry.objects.filter(action="class.cancelled").count() == 1


def test_a_class_whose_end_has_passed_is_completed(a: Tenant) -> None:
    ended, cancelled, coming = (ClassSessionFactory.create(workspace=a.workspace) for _ in range(3))
    a.workspace_api.post(f"/classes/{cancelled.uuid}/cancel")
    over(ended)
    over(cancelled)
    complete_ended()
    statuses = [
        a.workspace_api.get(f"/classes/{one.uuid}").json()["data"]["status"] for one in (ended, cancelled, coming)
    ]
    assert statuses == ["completed", "cancelled", "scheduled"]
    answer = a.workspace_api.post(f"/classes/{ended.uuid}/cancel")
    assert (answer.status_code, message(answer)) == (409, "This class is completed.")


def test_ended_classes_are_completed_in_batches(a: Tenant) -> None:
    service = ServiceFactory.create(workspace=a.workspace)
    for _ in range(5):
        over(ClassSessionFactory.create(workspace=a.workspace, service=service))
    with CaptureQueriesContext(connection) as few:
        assert complete_ended_classes(now=now(), batch=1) == 1
    with CaptureQueriesContext(connection) as many:
        assert complete_ended_classes(now=now(), batch=3) == 3
    assert len(many) == len(few)
    assert [complete_ended_classes(now=now()) for _ in range(2)] == [1, 0]


def test_staff_is_written_and_read(a: Tenant) -> None:
    body = {"name": "Mia", "email": "mia@example.com"}
    mia = a.workspace_api.post("/staff", body).json()["data"]
    assert mia == {"id": mia["id"], **body}
    ben = a.workspace_api.post("/staff", {"name": "ben", "email": None}).json()["data"]
    assert a.workspace_api.get("/staff").json()["data"] == [ben, mia]
    assert a.workspace_api.get("/staff?search=MI").json()["data"] == [mia]
    assert a.workspace_api.post("/staff", {"name": "X", "email": "x"}).status_code == 422
    changed = a.workspace_api.patch(f"/staff/{mia['id']}", {"email": None}).json()["data"]
    assert changed == {**mia, "email": None}
    assert [one.name for one in staff_to_choose(workspace=a.workspace, search="b")] == ["ben"]
    assert [one.name for one in staff_to_choose(workspace=a.workspace, most=1)] == ["ben"]


def test_whoever_hosts_scheduled_classes_is_not_deleted(a: Tenant) -> None:
    staff = StaffFactory.create(workspace=a.workspace, name="Mia")
    session = ClassSessionFactory.create(workspace=a.workspace, staff=staff)
    answer = a.workspace_api.delete(f"/staff/{staff.uuid}")
    assert (answer.status_code, message(answer)) == (
        409,
        "Classes are scheduled with this staff member. Cancel them first.",
    )
    a.workspace_api.post(f"/classes/{session.uuid}/cancel")
    assert a.workspace_api.delete(f"/staff/{staff.uuid}").status_code == 200
    assert message(a.workspace_api.get(f"/staff/{staff.uuid}")) == "Staff member not found."
    assert a.workspace_api.get(f"/classes/{session.uuid}").json()["data"]["staff"]["name"] == "Mia"


def test_a_page_costs_the_same_however_many_there_are(a: Tenant) -> None:
    def cost(path: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert a.workspace_api.get(path).status_code == 200
        return len(queries)

    session = ClassSessionFactory.create(workspace=a.workspace, staff=StaffFactory.create(workspace=a.workspace))
    people = contacts(a.workspace, 6)
    lists = ("/classes", "/staff", f"/classes/{session.uuid}/participants")
    a.workspace_api.post(lists[2], {"contact": str(people[0].uuid)})
    few = [cost(path) for path in lists]
    for person in people[1:]:
        ClassSessionFactory.create(workspace=a.workspace, staff=StaffFactory.create(workspace=a.workspace))
        a.workspace_api.post(lists[2], {"contact": str(person.uuid)})
    assert [cost(path) for path in lists] == few == [4, 4, 5]
