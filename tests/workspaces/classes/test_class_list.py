"""The list of classes: by service, staff, days and status."""

import re
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests import furnished
from tests.agency.console.browsers import text
from tests.factories import ClassSessionFactory, ServiceFactory, StaffFactory
from tests.tenants import Tenant
from tests.workspaces.classes.people import contacts
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.catalogue.models import Service, Staff
from workspaces.classes.dashboard import classes
from workspaces.classes.models import ClassSession
from workspaces.classes.services import add_participant, cancel_class, join_waiting_list
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
LIST = "/app/classes"
ROWS = 10_000


@pytest.fixture
def owner(a: Tenant) -> Client:
    """Of a workspace in Berlin with three classes on two days of next year's July."""
    Workspace.objects.filter(pk=a.workspace.pk).update(timezone="Europe/Berlin")
    yoga, dance = (ServiceFactory.create(workspace=a.workspace, name=name) for name in ("Yoga", "Dance"))
    mia = StaffFactory.create(workspace=a.workspace, name="Mia")
    year = now().year + 1
    ClassSessionFactory.create(workspace=a.workspace, service=yoga, starts_at=datetime(year, 7, 1, 21, 59, tzinfo=UTC))
    dancing = {"service": dance, "staff": mia}
    ClassSessionFactory.create(workspace=a.workspace, **dancing, starts_at=datetime(year, 7, 1, 22, 0, tzinfo=UTC))
    last = ClassSessionFactory.create(workspace=a.workspace, service=yoga, starts_at=datetime(year, 7, 3, tzinfo=UTC))
    cancel_class(session=last, now=now(), by=SYSTEM)
    return dashboard_client(a.workspace)


def listed(owner: Client, query: str) -> list[str]:
    """The day of July and the name of each class."""
    page = text(owner.get(LIST + query)).partition("Status")[2]
    return [f"{day} {name}" for name, day in re.findall(r"(Yoga|Dance) (?:Mia )?\w+, (\d) Jul", page)]


def test_classes_are_narrowed_by_service_staff_days_and_status(owner: Client) -> None:
    yoga, mia = Service.objects.get(name="Yoga").uuid, Staff.objects.get().uuid
    year = now().year + 1
    for query, expected in (
        ("", ["1 Yoga", "2 Dance", "3 Yoga"]),
        ("?sort=-starts", ["3 Yoga", "2 Dance", "1 Yoga"]),
        (f"?service={yoga}", ["1 Yoga", "3 Yoga"]),
        (f"?staff={mia}", ["2 Dance"]),
        (f"?staff={mia}&service={yoga}", []),
        ("?status=cancelled", ["3 Yoga"]),
        ("?status=unheard", []),
        ("?service=x", []),
        ("?staff=%00", []),
        (f"?from={year}-07-02", ["2 Dance", "3 Yoga"]),
        (f"?to={year}-07-01", ["1 Yoga"]),
        (f"?from={year}-07-02&to={year}-07-02", ["2 Dance"]),
        (f"?from={year}-07-03&to={year}-07-02", []),
        ("?from=x&to=9999-12-31", ["1 Yoga", "2 Dance", "3 Yoga"]),
    ):
        assert listed(owner, query) == expected, query
    assert "No class matches" in text(owner.get(f"{LIST}?service=x"))


def test_the_classes_of_a_contact_are_listed_from_the_first_one_on(a: Tenant, owner: Client, b: Tenant) -> None:
    ada, bob = contacts(a.workspace, 2)
    first, full, _ = ClassSession.objects.order_by("starts_at")
    add_participant(session=first, contact=ada, now=now())
    ClassSession.objects.filter(pk=full.pk).update(capacity=1)
    full.refresh_from_db()
    add_participant(session=full, contact=bob, now=now())
    join_waiting_list(session=full, contact=ada, now=now())
    year = now().year - 1
    over = {"starts_at": datetime(year, 7, 1, 10, tzinfo=UTC), "ends_at": datetime(year, 7, 1, 11, tzinfo=UTC)}
    ClassSession.objects.filter(pk=first.pk).update(**over)
    assert listed(owner, f"?contact={ada.uuid}") == ["1 Yoga", "2 Dance"]
    assert listed(owner, f"?contact={ada.uuid}&from={year + 2}-01-01") == ["2 Dance"]
    assert listed(owner, f"?contact={contacts(b.workspace, 1)[0].uuid}") == ["2 Dance", "3 Yoga"]
    shown = owner.get(f"{LIST}?contact={ada.uuid}").content.decode()
    assert re.search(rf'Contact: {ada}</span><a href="{LIST}"', shown)


def test_without_days_the_list_begins_today_and_says_so(a: Tenant, owner: Client) -> None:
    ClassSession.objects.update(starts_at=now() - timedelta(days=3), ends_at=now() - timedelta(days=2))
    page = owner.get(LIST)
    assert "No classes ahead" in text(page)
    assert listed(owner, "?status=scheduled") == []
    assert '<option value="">From today on</option>' in owner.get(f"{LIST}?status=scheduled").content.decode()
    assert "From today on" not in owner.get(f"{LIST}?from=2020-01-01").content.decode()
    assert "From today on" not in owner.get(f"{LIST}?period=today").content.decode()


def test_periods_are_days_of_the_workspaces_clock(a: Tenant, owner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    year = now().year + 1
    at_night = datetime(year, 7, 1, 22, 30, tzinfo=UTC)  # in Berlin it is the 2nd
    monkeypatch.setattr(classes, "timezone", SimpleNamespace(now=lambda: at_night))
    for query, expected in (
        ("", ["2 Dance", "3 Yoga"]),
        ("?period=today", ["2 Dance"]),
        ("?period=next-7-days", ["2 Dance", "3 Yoga"]),
        ("?period=last-7-days", ["1 Yoga", "2 Dance"]),
        ("?period=this-month", ["1 Yoga", "2 Dance", "3 Yoga"]),
        (f"?period=this-month&from={year}-07-02&to={year}-07-02", ["2 Dance"]),
        (f"?period=today&from={year}-07-03", []),
        ("?period=odd", ["2 Dance", "3 Yoga"]),
    ):
        assert listed(owner, query) == expected, query
    assert "Period: Last 7 days" in text(owner.get(f"{LIST}?period=last-7-days"))


def test_nothing_of_others_is_listed_or_offered(owner: Client, b: Tenant) -> None:
    stranger = dashboard_client(b.workspace)
    for query in ("", f"?service={Service.objects.get(name='Yoga').uuid}", f"?staff={Staff.objects.get().uuid}"):
        assert listed(stranger, query) == []
        assert "Yoga" not in text(stranger.get(LIST + query))


def test_each_filter_is_read_in_order_by_an_index(a: Tenant, owner: Client) -> None:
    services = [ServiceFactory.create(workspace=a.workspace, name=f"Class {number}") for number in range(20)]
    staff = [StaffFactory.create(workspace=a.workspace, name=f"Host {number}") for number in range(20)]
    day = now() + timedelta(days=1)
    ClassSession.objects.bulk_create(
        ClassSession(
            workspace=a.workspace,
            service=services[number % 20],
            staff=staff[number // 20 % 20],
            starts_at=day + timedelta(minutes=number),
            ends_at=day + timedelta(minutes=number + 50),
            capacity=5,
            status="cancelled" if number % 30 == 7 else "scheduled",
        )
        for number in range(ROWS)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE classes_classsession, catalogue_service, catalogue_staff")
    owner.get(LIST)
    for query, index in (
        ("", "class_by_start"),
        ("?sort=-starts", "class_by_start"),
        ("?status=cancelled", "class_by_status"),
    ):
        with CaptureQueriesContext(connection) as asked:
            assert owner.get(LIST + query).status_code == 200
        assert len(asked) == 9, query
        [statement] = [one["sql"] for one in asked if 'ORDER BY "classes_classsession"' in one["sql"]]
        with connection.cursor() as cursor:
            cursor.execute("EXPLAIN " + statement.replace("%", "%%"), [])
            plan = "\n".join(row[0] for row in cursor.fetchall())
        assert index in plan, (query, plan)
        assert "Seq Scan on classes_classsession" not in plan, (query, plan)
        assert "Sort" not in plan, (query, plan)
