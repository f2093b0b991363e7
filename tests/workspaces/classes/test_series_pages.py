"""Series, waiting lists and changes of classes on the dashboard's pages."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from config.formats import format_day
from tests import furnished
from tests.agency.console.browsers import flashes, text
from tests.factories import ClassSessionFactory, ServiceFactory, StaffFactory
from tests.tenants import Tenant
from tests.workspaces.classes.people import contacts
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.classes.models import ClassSeries, ClassSession
from workspaces.classes.services import add_participant, join_waiting_list
from workspaces.classes.tasks import make_series
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
LIST = "/app/classes/series"
FIRST = (now() + timedelta(days=10)).date()


@pytest.fixture
def owner(a: Tenant) -> Client:
    Workspace.objects.filter(pk=a.workspace.pk).update(timezone="Asia/Tokyo")
    a.workspace.timezone = "Asia/Tokyo"
    return dashboard_client(a.workspace)


def test_a_series_is_created_changed_and_ended(a: Tenant, b: Tenant, owner: Client) -> None:
    service, mia = ServiceFactory.create(workspace=a.workspace, name="Yoga"), StaffFactory.create(workspace=a.workspace)
    assert "No series yet" in text(owner.get(LIST))
    rule = {"start_time": "18:00", "capacity": "5", "interval": "1", "unit": "weeks", "count": "3"}
    sent = {**rule, "service": str(service.uuid), "staff": str(mia.uuid), "first_date": str(FIRST)}
    both = owner.post(f"{LIST}/new", {**sent, "until": str(FIRST)})
    assert both.status_code == 422
    assert "not both" in text(both)
    answer = owner.post(f"{LIST}/new", sent, follow=True)
    assert flashes(answer) == ["The series was created. Its classes will appear in a moment."]
    series = ClassSeries.objects.get()
    assert (series.timezone, series.weekdays) == ("Asia/Tokyo", [FIRST.weekday()])
    make_series()
    page = f"{LIST}/{series.uuid}"
    shown = text(owner.get(page))
    assert "every week" in shown
    assert shown.count("0 of 5 seats taken") == 3
    assert f"{format_day(FIRST, 'yMMMEd')}, 18:00" in shown
    first = ClassSession.objects.earliest("starts_at")
    assert first.starts_at == datetime(FIRST.year, FIRST.month, FIRST.day, 9, tzinfo=UTC)
    add_participant(session=first, contact=contacts(a.workspace, 1)[0], now=now())
    ClassSessionFactory.create(workspace=a.workspace, staff=mia, starts_at=first.starts_at + timedelta(days=7, hours=1))
    form = owner.get(f"{page}/edit").content.decode()
    assert 'value="18:00"' in form
    change = {**rule, "from": str(FIRST), "start_time": "19:00", "duration_minutes": "60", "staff": str(mia.uuid)}
    changed = owner.post(f"{page}/edit", {**change, "weekdays": [str(FIRST.weekday())]}, follow=True)
    assert flashes(changed) == ["Classes changed: 1, cancelled: 1, unchanged: 1."]
    make_series()
    assert "Days without a class" in text(owner.get(page))
    assert "The host is busy at this time." in text(owner.get(page))
    assert "Part of a series" in text(owner.get(f"/app/classes/{first.uuid}"))
    ended = owner.post(f"{page}/end", follow=True)
    assert flashes(ended) == ["Classes changed: 0, cancelled: 1, unchanged: 1."]
    assert "Ended" in text(owner.get(LIST))
    assert dashboard_client(b.workspace).get(page).status_code == 404
    assert "Yoga" not in text(dashboard_client(b.workspace).get(LIST))


def test_contacts_wait_for_a_full_class(a: Tenant, owner: Client) -> None:
    session = ClassSessionFactory.create(workspace=a.workspace, capacity=1)
    ada, bob, eve = contacts(a.workspace, 3)
    path = f"/app/classes/{session.uuid}"
    early = owner.post(f"{path}/waiting-list", {"contact": str(bob.uuid)}, follow=True)
    assert flashes(early) == ["This class has free seats."]
    add_participant(session=session, contact=ada, now=now())
    found = owner.get(f"{path}?search=contact")
    assert "Add to the waiting list" in text(found)
    assert f'action="{path}/waiting-list"' in found.content.decode()
    for person in (bob, eve):
        added = owner.post(f"{path}/waiting-list", {"contact": str(person.uuid)}, follow=True)
    assert flashes(added)[-1] == "Contact 2 is on the waiting list."
    assert "No contact matches." in text(owner.get(f"{path}?search=contact 1"))
    owner.post(f"{path}/participants/{ada.uuid}/remove")
    assert list(session.participants.values_list("contact", flat=True)) == [bob.pk]
    gone = owner.post(f"{path}/waiting-list/{eve.uuid}/remove", follow=True)
    assert flashes(gone)[-1] == "Contact 2 is no longer on the waiting list."
    assert owner.post(f"{path}/waiting-list/{eve.uuid}/remove").status_code in (302, 404)
    assert not session.waiting.exists()


def test_a_class_is_changed_by_the_workspaces_clock(a: Tenant, owner: Client) -> None:
    starts_at = datetime(FIRST.year, FIRST.month, FIRST.day, 9, tzinfo=UTC)
    session = ClassSessionFactory.create(workspace=a.workspace, capacity=2, starts_at=starts_at)
    length = session.ends_at - session.starts_at
    for person in contacts(a.workspace, 2):
        add_participant(session=session, contact=person, now=now())
    page = f"/app/classes/{session.uuid}/edit"
    shown = owner.get(page)
    assert f'value="{FIRST}T18:00"' in shown.content.decode()
    assert "People who have a seat are not notified." in text(shown)
    ends = f"{session.ends_at + timedelta(hours=9):%Y-%m-%dT%H:%M}"
    sent = {"starts_at": f"{FIRST + timedelta(days=1)}T18:00", "ends_at": ends, "capacity": "1", "staff": ""}
    fewer = owner.post(page, sent)
    assert fewer.status_code == 422
    assert "must be at least 2" in text(fewer)
    saved = owner.post(page, {**sent, "capacity": "3"}, follow=True)
    assert flashes(saved)[-1].endswith("was saved.")
    session.refresh_from_db()
    assert (session.starts_at, session.ends_at - session.starts_at) == (starts_at + timedelta(days=1), length)


def test_a_page_costs_the_same_however_long_it_is(a: Tenant, owner: Client) -> None:
    service = ServiceFactory.create(workspace=a.workspace)
    session = ClassSessionFactory.create(workspace=a.workspace, capacity=1)
    people = contacts(a.workspace, 6)
    add_participant(session=session, contact=people[0], now=now())

    def one_more(number: int) -> ClassSeries:
        body = {"service": str(service.uuid), "first_date": str(FIRST), "start_time": f"1{number}:00", "capacity": 5}
        made = a.workspace_api.post("/classes/series", {**body, "count": number}).json()["data"]
        make_series()
        join_waiting_list(session=session, contact=people[number], now=now())
        return ClassSeries.objects.get(uuid=made["id"])

    def cost(page: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert owner.get(page).status_code == 200
        return len(queries)

    few = one_more(1)
    costs = [cost(page) for page in (LIST, f"{LIST}/{few.uuid}", f"/app/classes/{session.uuid}")]
    more = [one_more(number) for number in range(2, 5)][-1]
    assert [cost(page) for page in (LIST, f"{LIST}/{more.uuid}", f"/app/classes/{session.uuid}")] == costs
    with CaptureQueriesContext(connection) as listed:
        a.workspace_api.get("/classes/series")
    assert len(listed) <= 8
