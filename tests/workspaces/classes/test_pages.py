"""Staff and classes on the dashboard's pages."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.factories import ClassSessionFactory, ServiceFactory, StaffFactory
from tests.tenants import Tenant
from tests.workspaces.classes.people import contacts
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.catalogue.models import Staff
from workspaces.classes.models import ClassSession
from workspaces.classes.services import add_participant
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture
def owner(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


def test_a_class_is_scheduled_by_the_workspaces_clock(a: Tenant, owner: Client) -> None:
    Workspace.objects.filter(pk=a.workspace.pk).update(timezone="Europe/Berlin")
    service = ServiceFactory.create(workspace=a.workspace, name="Yoga")
    ServiceFactory.create(workspace=a.workspace, name="Haircut", kind="appointment")
    staff = StaffFactory.create(workspace=a.workspace, name="Mia")
    assert "Haircut" not in text(owner.get("/app/classes/new"))
    sent = {"service": str(service.uuid), "staff": str(staff.uuid), "starts_at": "2027-07-01T18:00", "capacity": "2"}
    answer = owner.post("/app/classes/new", sent, follow=True)
    assert flashes(answer) == ["Yoga was scheduled."]
    session = ClassSession.objects.get()
    assert session.starts_at == datetime(2027, 7, 1, 16, tzinfo=UTC)
    assert "Thu, 1 Jul 2027, 18:00" in text(answer)
    for missing in ("2027-03-28T02:30", "2027-10-31T02:30", "tomorrow", ""):  # skipped, twice there, no time
        assert owner.post("/app/classes/new", {**sent, "starts_at": missing}).status_code == 422
    listed = text(owner.get("/app/classes?from=2027-07-01"))
    for shown in ("Yoga", "Mia", "Thu, 1 Jul 2027, 18:00", "0 / 2", "Scheduled"):
        assert shown in listed
    assert "No class matches" in text(owner.get("/app/classes?from=2027-07-02"))
    assert "No class matches" in text(owner.get("/app/classes?from=2027-07-01&status=cancelled"))
    for odd in ("x", "0001-01-01", "9999-12-31", "%00"):
        assert owner.get(f"/app/classes?from={odd}").status_code == 200


def test_contacts_are_found_seated_and_removed(a: Tenant, owner: Client) -> None:
    session = ClassSessionFactory.create(workspace=a.workspace, capacity=2)
    ada, bob, eve = contacts(a.workspace, 3)
    path = f"/app/classes/{session.uuid}"
    assert "Contact 1" in text(owner.get(f"{path}?search=CONTACT 1"))
    assert "No contact matches." in text(owner.get(f"{path}?search=nobody"))
    assert owner.get(f"{path}?search=%00").status_code == 200
    added = owner.post(f"{path}/participants", {"contact": str(ada.uuid)}, follow=True)
    assert flashes(added) == ["Contact 0 takes part."]
    assert "1 of 2 seats taken" in text(added)
    assert "Add Contact 0" not in owner.get(f"{path}?search=contact").content.decode()
    owner.post(f"{path}/participants", {"contact": str(bob.uuid)})
    full = owner.post(f"{path}/participants", {"contact": str(eve.uuid)}, follow=True)
    assert flashes(full)[-1] == "This class is full."
    assert "Add a participant" not in text(owner.get(path))
    freed = owner.post(f"{path}/participants/{ada.uuid}/remove", follow=True)
    assert flashes(freed) == ["Contact 0 no longer takes part."]
    cancelled = owner.post(f"{path}/cancel", follow=True)
    assert flashes(cancelled) == ["The class is cancelled."]
    assert "Cancelled" in text(cancelled)
    assert "Remove Contact 1" not in cancelled.content.decode()


def test_contacts_of_others_are_not_there(a: Tenant, b: Tenant, owner: Client) -> None:
    session = ClassSessionFactory.create(workspace=a.workspace)
    [foreign] = contacts(b.workspace, 1)
    path = f"/app/classes/{session.uuid}"
    assert "No contact matches." in text(owner.get(f"{path}?search=contact"))
    assert owner.post(f"{path}/participants", {"contact": str(foreign.uuid)}).status_code == 404
    assert owner.post(f"{path}/participants/{foreign.uuid}/remove").status_code == 404
    assert owner.post(f"{path}/participants", {"contact": "\0"}).status_code == 404


def test_staff_is_added_edited_and_deleted(a: Tenant, owner: Client) -> None:
    owner.post("/app/staff/new", {"name": "Mia", "email": "Mia@Example.com"})
    assert Staff.objects.get().email == "mia@example.com"
    mia = Staff.objects.get()
    session = ClassSessionFactory.create(workspace=a.workspace, staff=mia)
    refused = owner.post(f"/app/staff/{mia.uuid}/delete", follow=True)
    assert "Classes are scheduled with this staff member." in text(refused)
    owner.post(f"/app/classes/{session.uuid}/cancel")
    owner.post(f"/app/staff/{mia.uuid}", {"name": "Mia B.", "email": ""})
    assert Staff.objects.filter(name="Mia B.", email=None).exists()
    assert flashes(owner.post(f"/app/staff/{mia.uuid}/delete", follow=True))[-1] == "Mia B. was deleted."
    assert "No staff yet" in text(owner.get("/app/staff"))


def test_a_page_costs_the_same_however_long_it_is(a: Tenant, owner: Client) -> None:
    session = ClassSessionFactory.create(workspace=a.workspace)
    people = contacts(a.workspace, 8)

    def cost(page: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            owner.get(page)
        return len(queries)

    def one_more(number: int) -> None:
        staff = StaffFactory.create(workspace=a.workspace)
        ClassSessionFactory.create(workspace=a.workspace, staff=staff, starts_at=now() + timedelta(days=2))
        add_participant(session=session, contact=people[number], now=now())

    pages = ("/app/classes", "/app/staff", f"/app/classes/{session.uuid}?search=contact")
    one_more(0)
    few = [cost(page) for page in pages]
    for number in range(1, 4):
        one_more(number)
    assert [cost(page) for page in pages] == few
    assert max(few) <= 10
