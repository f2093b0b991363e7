"""The bell, the list and the preferences, as people of an agency and of a workspace use them."""

import re
from typing import Any, TypeVar
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.models import Notification, NotificationEvent, NotificationPreference
from agency.services.notifications.recording import record_notification
from agency.tasks import tell_people
from agency.tenants import Tenant as Whose
from tests import furnished
from tests.agency.console.browsers import a_browser, a_member, flashes, text
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.subaccounts.services import tenant_of

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
LIST = "/console/notifications"
Row = TypeVar("Row", bound=Model)


def lose(tenant: Tenant, *, number: int = 1, name: str = "Front desk") -> None:
    with transaction.atomic():
        for _ in range(number):
            for whose, kind in (
                (Whose(tenant.agency.pk), "channel.lost"),
                (tenant_of(tenant.workspace), "workspace.channel_lost"),
            ):
                told = {"channel": name, "workspace": "Corner Salon"}
                uuid = str(tenant.workspace.uuid)
                record_notification(tenant=whose, kind=kind, key=str(uuid4()), object_id=uuid, data=told, now=now())
    tell_people()


def lose_again(kind: str, *, number: int) -> None:
    """Have it happen so many times more, as copies of its first event and of what its people were told."""
    event = NotificationEvent.objects.filter(kind=kind).earliest("id")
    told = list(Notification.objects.filter(event=event))
    again = [copied(event, key=str(uuid4())) for _ in range(number)]
    NotificationEvent.objects.bulk_create(again)
    Notification.objects.bulk_create([copied(one, event=event) for event in again for one in told])


def copied(row: Row, **changes: Any) -> Row:
    copy = type(row)(**{field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields})
    copy.pk = None
    for name, value in changes.items():
        setattr(copy, name, value)
    return copy


def unread(browser: Client, page: str) -> str:
    found = re.search(r'class="count">(.*?)<span', browser.get(page).content.decode())
    return found[1] if found else ""


@pytest.mark.parametrize("area", ["console", "app"])
def test_the_unread_count_ends_when_all_are_read(area: str, a: Tenant, b: Tenant) -> None:
    mine = a_member(a.agency, "admin").user
    browser = a_browser(mine) if area == "console" else dashboard_client(a.workspace)
    other = a_browser(a_member(b.agency, "admin").user) if area == "console" else dashboard_client(b.workspace)
    page = f"/{area}/notifications"
    assert unread(browser, page) == ""
    assert "No notifications yet" in text(browser.get(page))
    lose(a, number=3)
    lose(b)
    assert (unread(browser, page), unread(other, page)) == ("3", "1")
    user = mine if area == "console" else a.workspace.owner
    oldest, _, newest = Notification.objects.filter(user=user).order_by("id")
    foreign = Notification.objects.exclude(area__in=[a.agency.uuid, a.workspace.uuid])
    for number in (oldest.pk, oldest.pk, *foreign.values_list("pk", flat=True), 10**30):
        browser.post(f"{page}/read", {"notification": number})
    assert (unread(browser, page), unread(other, page)) == ("2", "1")
    lose(a)
    assert flashes(browser.post(f"{page}/read", {"until": newest.pk})) == []
    assert unread(browser, page) == "1"
    shown = browser.get(f"{page}?state=unread")
    assert shown.content.decode().count("<tr") == 2  # its head, and the one that came since
    assert not browser.get(f"{page}?kind=endpoint.fails").context["rows"]


def test_the_unread_count_is_one_statement_along_an_index(a: Tenant) -> None:
    mine = a_member(a.agency, "viewer").user
    browser = a_browser(mine)
    lose(a)
    lose_again("channel.lost", number=119)
    browser.get(LIST)
    with CaptureQueriesContext(connection) as asked:
        page = browser.get("/console/plans")
    counting = [one["sql"] for one in asked if "agency_notification" in one["sql"]]
    assert len(counting) == 1
    assert "LIMIT 100" in counting[0]
    assert "99+" in text(page)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {counting[0]}")
        assert "notification_unread" in " ".join(row[0] for row in cursor.fetchall())


def test_the_list_is_paged_and_asks_no_more_for_more_rows(a: Tenant) -> None:
    browser = a_browser(a_member(a.agency, "admin").user)
    lose(a)
    lose_again("channel.lost", number=1)
    browser.get(LIST)
    with CaptureQueriesContext(connection) as few:
        browser.get(LIST)
    lose_again("channel.lost", number=40)
    with CaptureQueriesContext(connection) as many:
        page = browser.get(LIST)
    assert len(few) == len(many)
    assert len(page.context["rows"]) == 25
    assert "Older" in text(page)


@pytest.mark.parametrize("area", ["console", "app"])
def test_preferences_are_a_person_s_own_and_work_without_a_script(area: str, a: Tenant) -> None:
    user = a_member(a.agency, "viewer").user if area == "console" else a.workspace.owner
    browser, page = a_browser(user), f"/{area}/notifications/settings"
    shown = browser.get(page)
    choices = re.findall(r'name="([a-z_.]+)" value="(\w+)"[^>]*?( checked)?>', shown.content.decode())
    ways = {name: way for name, way, is_chosen in choices if is_chosen}
    kinds = {name for name, _, _ in choices if "." in name}
    assert ways.keys() == kinds
    if area == "console":
        assert set(ways.values()) == {"console"}
        assert "endpoint.fails" not in kinds  # of what viewers are not told
    one = min(kinds)
    assert browser.post(page, {**ways, one: "digest"}).status_code == 302
    assert NotificationPreference.objects.get(user=user, kind=one).way == "digest"
    chosen = re.search(rf'name="{one}" value="digest"[^>]*? checked', browser.get(page).content.decode())
    assert chosen
    for wrong in ({one: "pigeon"}, {}):
        assert browser.post(page, {**wrong}).status_code == 422


def test_a_viewer_who_was_an_admin_no_longer_sees_what_is_not_for_viewers(a: Tenant) -> None:
    member = a_member(a.agency, "admin")
    with transaction.atomic():
        record_notification(
            tenant=Whose(a.agency.pk),
            kind="domain.fails",
            key="1",
            object_id=str(uuid4()),
            data={"host": "x.example"},
            now=now(),
        )
    tell_people()
    browser = a_browser(member.user)
    assert "x.example" in text(browser.get(LIST))
    member.role = "viewer"
    member.save()
    assert "x.example" not in text(browser.get(LIST))
    assert unread(browser, LIST) == ""
