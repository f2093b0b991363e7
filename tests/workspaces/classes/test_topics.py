"""What subscribers are told of staff and classes."""

from datetime import timedelta

import pytest
from django.utils.timezone import now

from agency.models import Event
from tests import furnished
from tests.factories import ClassSessionFactory, ServiceFactory
from tests.tenants import Tenant
from tests.workspaces.classes.people import contacts
from tests.workspaces.topics import recorded_events, subscribe_to
from workspaces.classes.models import ClassSession
from workspaces.classes.services import complete_ended_classes

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db


def test_a_classes_life_is_told_change_by_change(a: Tenant) -> None:
    topics = ("scheduled", "cancelled", "completed", "full", "participant_added", "participant_removed")
    subscribe_to(a.workspace, *(f"class.{topic}" for topic in topics))
    service = ServiceFactory.create(workspace=a.workspace)
    [ada] = contacts(a.workspace, 1)
    body = {"service": str(service.uuid), "starts_at": "2027-01-01T10:00:00Z", "capacity": 1}
    session = a.workspace_api.post("/classes", body).json()["data"]
    path = f"/classes/{session['id']}"
    seat = {"contact": str(ada.uuid)}
    for _ in range(2):
        a.workspace_api.post(f"{path}/participants", seat)
    a.workspace_api.delete(f"{path}/participants/{ada.uuid}")
    for _ in range(2):
        cancelled = a.workspace_api.post(f"{path}/cancel").json()["data"]
    who = {"id": str(ada.uuid), "name": "Contact 0", "phone": None}
    taken = {**session, "participants_count": 1}
    assert recorded_events(a.workspace) == [
        ("class.scheduled", {"class": session}),
        ("class.participant_added", {"class": taken, "contact": who}),
        ("class.full", {"class": taken}),
        ("class.participant_removed", {"class": session, "contact": who}),
        ("class.cancelled", {"class": cancelled}),
    ]
    assert cancelled == {**session, "status": "cancelled"}


def test_completed_classes_are_told_to_the_workspaces_that_want_it(a: Tenant, b: Tenant) -> None:
    subscribe_to(a.workspace, "class.completed")
    subscribe_to(b.workspace, "class.cancelled")
    ended = [ClassSessionFactory.create(workspace=tenant.workspace) for tenant in (a, a, b)]
    past = {"starts_at": now() - timedelta(hours=2), "ends_at": now() - timedelta(hours=1)}
    ClassSession.objects.update(**past)
    assert complete_ended_classes(now=now()) == 3
    shown = [a.workspace_api.get(f"/classes/{one.uuid}").json()["data"] for one in ended[:2]]
    assert {one["status"] for one in shown} == {"completed"}
    assert recorded_events(a.workspace) == [("class.completed", {"class": one}) for one in shown]
    assert not Event.objects.filter(workspace_id=b.workspace.pk).exists()


def test_a_staff_members_life_is_told_change_by_change(a: Tenant) -> None:
    subscribe_to(a.workspace, "staff.created", "staff.updated", "staff.deleted")
    mia = a.workspace_api.post("/staff", {"name": "Mia"}).json()["data"]
    path = f"/staff/{mia['id']}"
    for _ in range(2):
        changed = a.workspace_api.patch(path, {"email": "mia@example.com"}).json()["data"]
    a.workspace_api.delete(path)
    assert recorded_events(a.workspace) == [
        ("staff.created", {"staff": mia}),
        ("staff.updated", {"staff": changed, "changes": {"email": {"from": None, "to": "mia@example.com"}}}),
        ("staff.deleted", {"staff": changed}),
    ]
