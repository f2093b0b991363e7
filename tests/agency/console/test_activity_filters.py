"""The activity log's filters: each narrows, they combine, and the file keeps what the page keeps."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM, Actor, ActorKind
from agency.console.activity import ACTIVITY
from agency.models import ActivityEntry, AgencyKey, Member
from agency.pages.registry import activity_actions
from agency.services import record_activity
from agency.services.bulk import Selection
from config.formats import format_day
from tests import furnished
from tests.agency.console.browsers import text
from tests.tenants import Tenant

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
LOG = "/console/activity"
# Days are counted from a noon: ids rise with time but for an hour or so, and those of these entries do not.
START = now().replace(hour=12, minute=0)
# Thirty thousand changes of the last years, all alike.
MANY = """
INSERT INTO agency_activityentry (agency_id, at, actor_kind, actor_id, actor_label, of_workspace, action,
    target_kind, target_id, target_name, address, request_id, details)
SELECT %s, '2019-01-01'::timestamptz + number * interval '1 hour', 'user', '1', 'kim@example.com', false,
    'test.recorded', 'entry', 'thing-' || number, 'Entry', '', '', '{}' FROM generate_series(10, 30000) number
"""


@pytest.fixture
def entries(a: Tenant) -> None:
    """Four changes: two by one key and two by a person, of two things, on four days."""
    doors: tuple[tuple[ActorKind, str], ...] = (("agency_key", "Billing"), ("user", "kim@example.com"))
    for number in range(4, 0, -1):
        kind, label = doors[number % 2]
        ActivityEntry.objects.create(
            agency=a.agency,
            at=START - timedelta(days=number),
            actor_kind=Actor(kind=kind, id="", label=label).kind,
            actor_label=label,
            action="test.recorded",
            target_kind="entry",
            target_id=f"thing-{number // 3}",
            target_name=f"Entry {number}.",
        )


def day(ago: int) -> str:
    return (START - timedelta(days=ago)).date().isoformat()


CASES: tuple[tuple[dict[str, Any], set[int]], ...] = (
    ({"door": "agency_key"}, {2, 4}),
    ({"door": "user"}, {1, 3}),
    ({"person": "Billing"}, {2, 4}),
    ({"object": "thing-1"}, {3, 4}),
    ({"from": 2}, {1, 2}),
    ({"to": 3}, {3, 4}),
    ({"from": 3, "to": 2}, {2, 3}),
    ({"from": 3, "to": 3}, {3}),
    ({"door": "user", "object": "thing-1", "from": 3, "action": "test.recorded"}, {3}),
    ({"person": "nobody"}, set()),
    ({"period": "week", "from": 3}, {1, 2, 3}),
    ({"period": "hour"}, set()),
)


@pytest.mark.usefixtures("entries")
def test_page_and_file_keep_what_all_filters_keep(a: Tenant, admin: Client) -> None:
    for asked, expected in CASES:
        days = {name: day(value) for name, value in asked.items() if isinstance(value, int)}
        query = {"action": "test.recorded"} | asked | days
        page = admin.get(LOG, query)
        assert {int(one) for one in re.findall(r"Entry (\d)\.", text(page))} == expected, asked
        selection = Selection(agency=a.agency, query=page.wsgi_request.GET.urlencode(), until=now())
        rows = ACTIVITY.read(selection, None, 100).rows
        assert {row["target_name"] for row in rows} == {f"Entry {number}." for number in expected}, asked


def test_a_day_that_is_none_keeps_nothing_and_is_no_error(admin: Client) -> None:
    for value in ("yesterday", "2026-02-30", "9999-12-31", "\0", "9" * 500):
        for name in ("to", "from", "period"):
            page = admin.get(LOG, {name: value})
            assert page.status_code == 200, (name, value)
    assert "No changes match" in text(admin.get(LOG, {"to": "yesterday"}))
    assert "No changes match" in text(admin.get(LOG, {"person": "\0"}))


@pytest.mark.usefixtures("entries")
def test_the_form_shows_what_it_was_asked_for(admin: Client) -> None:
    html = admin.get(LOG, {"from": day(3), "door": "user", "period": "week"}).content.decode()
    assert "Period: Last 7 days" in html
    assert f"From day (UTC): {format_day(START.date() - timedelta(days=3))}" in html
    assert f'type="date" name="from" value="{day(3)}"' in html
    assert '<option value="user" selected>' in html


def options(page: str, field: str) -> dict[str, list[str]]:
    """Return the values that a field offers, by the groups in which they stand."""
    shown = page.split(f'name="{field}"')[1].split("</select>")[0]
    groups = re.findall(r'<optgroup label="([^"]+)">(.*?)</optgroup>', shown)
    return {label: re.findall(r'value="([^"]+)"', found) for label, found in groups}


def test_actions_people_and_keys_are_chosen_from_lists(a: Tenant, admin: Client) -> None:
    AgencyKey.objects.filter(agency=a.agency).update(name="Billing")
    member = Member.objects.get(agency=a.agency, role="admin").user.email
    record_activity(by=SYSTEM, action="test.recorded", agency_id=a.agency.pk, target=("entry", 1, "Entry 1."))
    page = admin.get(LOG).content.decode()
    actions = options(page, "action")
    assert "webhook.created" in actions["Webhooks"]
    assert {"member.invited", "invitation.withdrawn"} <= {*actions["Team"]}
    assert sum(map(len, actions.values())) == len([*activity_actions])
    assert all(one.startswith("test.") for one in actions.get("Other", [])), "each action has a subject"
    people = options(page, "person")
    assert member in people["Team"]
    assert people["API keys"] == ["Billing"]
    assert '<a href="?person=system"' in page
    somebody = admin.get(LOG, {"person": "<gone@example.com>"}).content.decode()
    assert '<option value="&lt;gone@example.com&gt;" selected>' in somebody


PLANS: tuple[tuple[dict[str, str], str], ...] = (
    ({"door": "customer"}, "activity_by_door"),
    ({"person": "nobody@example.com"}, "activity_by_person"),
    ({"object": "thing-1"}, "activity_by_object"),
    ({"from": "2020-01-01", "to": "2020-01-31"}, "activity_by_day"),
    ({"period": "hour"}, "activity_by_day"),
    ({"to": "2020-01-31", "action": "test.recorded"}, "activity_by_day"),
)


def test_each_filter_reads_along_its_index(a: Tenant, admin: Client) -> None:
    with connection.cursor() as cursor:
        cursor.execute(MANY, [a.agency.pk])
        cursor.execute("ANALYZE agency_activityentry")
    for asked, index in PLANS:
        with CaptureQueriesContext(connection) as captured:
            admin.get(LOG, asked)
        [sought] = [one["sql"] for one in captured if 'FROM "agency_activityentry"' in one["sql"]]
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {sought}")
            plan = "\n".join(row[0] for row in cursor.fetchall())
        assert index in plan, asked
        assert "Seq Scan" not in plan, asked
        assert all(int(number) < 100 for number in re.findall(r"Rows Removed by Filter: (\d+)", plan)), plan
