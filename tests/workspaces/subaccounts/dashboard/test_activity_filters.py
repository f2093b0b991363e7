"""The filters of a workspace's own activity: they combine, and find nobody whose name is not shown."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.models import ActivityEntry
from tests import furnished
from tests.agency.console.browsers import text
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import agency_client, dashboard_client
from workspaces.subaccounts.models import Workspace

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
LOG = "/app/activity"
# Days are counted from a noon: ids rise with time but for an hour or so, and those of these entries do not.
START = now().replace(hour=12, minute=0)
# Of each actor: the kind, the name, whether it is one of the workspace's own, as which customer.
ACTORS: tuple[tuple[str, str, bool, str], ...] = (
    ("user", "ada@example.com", True, ""),
    ("workspace_key", "Till", False, ""),
    ("user", "kim@example.com", False, ""),
    ("user", "kim@example.com", False, "Salon"),
    ("system", "system", False, ""),
    ("customer", "Ada's phone", False, ""),
    ("agency_key", "Billing", False, ""),
    ("staff", "support@example.com", False, ""),
    ("automation", "Welcome", False, ""),
)
ROWS, DIFFERENT = 20_000, 40
AGAIN = """
INSERT INTO agency_activityentry ({columns})
SELECT {columns} FROM generate_series(1, %s),
    (SELECT * FROM agency_activityentry WHERE action LIKE 'test.%%' ORDER BY id) AS entry
"""


@pytest.fixture
def owner(a: Tenant) -> Client:
    return dashboard_client(a.workspace)


def day(ago: int) -> str:
    return (START - timedelta(days=ago)).date().isoformat()


def an_entry(workspace: Workspace, number: int) -> ActivityEntry:
    kind, label, of_workspace, acting_for = ACTORS[(number - 1) % len(ACTORS)]
    return ActivityEntry(
        agency=workspace.agency,
        workspace_uuid=workspace.uuid,
        at=START - timedelta(days=number),
        actor_kind=kind,
        actor_label=label,
        of_workspace=of_workspace,
        acting_for=acting_for,
        action=f"test.recorded_{number}",
        target_kind="entry",
        target_id=f"thing-{number % 2}",
        target_name=f"Entry {number}",
    )


@pytest.fixture
def entries(a: Tenant) -> None:
    """Nine changes on as many days, each by another kind of actor; of two things."""
    ActivityEntry.objects.bulk_create(an_entry(a.workspace, number) for number in range(9, 0, -1))  # as time goes


def found(page: Any) -> set[int]:
    return {int(one) for one in re.findall(r"Test recorded (\d)", text(page).partition("When")[2])}


CASES: tuple[tuple[dict[str, Any], set[int]], ...] = (
    ({}, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
    ({"action": "test.recorded_2"}, {2}),
    ({"door": "people"}, {1}),
    ({"door": "key"}, {2}),
    ({"door": "agency"}, {3, 4, 7, 8}),
    ({"door": "system"}, {5}),
    ({"door": "connect"}, {6}),
    ({"door": "agency_key"}, set()),
    ({"door": "staff"}, set()),
    ({"door": "automation"}, {9}),
    ({"person": "Till"}, {2}),
    ({"person": "Welcome"}, {9}),
    ({"person": "nobody"}, set()),
    ({"from": 2}, {1, 2}),
    ({"period": "week", "from": 3}, {1, 2, 3}),
    ({"to": 7}, {7, 8, 9}),
    ({"from": 3, "to": 2}, {2, 3}),
    ({"door": "agency", "from": 4, "to": 2}, {3, 4}),
    ({"from": "yesterday"}, set()),
    ({"to": "9999-12-31"}, set()),
    ({"person": "\0"}, set()),
)


@pytest.mark.usefixtures("entries")
def test_the_page_keeps_what_all_filters_keep(owner: Client) -> None:
    for asked, expected in CASES:
        page = owner.get(LOG, {name: day(one) if isinstance(one, int) else one for name, one in asked.items()})
        assert page.status_code == 200, asked
        assert found(page) == expected, asked
    assert "No change matches" in text(owner.get(LOG, {"person": "nobody"}))


@pytest.mark.usefixtures("entries")
def test_nobody_of_the_agency_is_found_by_a_name_or_an_object_that_is_not_shown(owner: Client) -> None:
    assert found(owner.get(LOG, {"person": "kim@example.com"})) == {4}  # as the customer: both names are shown
    for unseen in ("Billing", "support@example.com", "system"):
        assert found(owner.get(LOG, {"person": unseen})) == set(), unseen
    links = re.findall(r'<a href="\?person=([^"]+)"', owner.get(LOG).content.decode())
    assert links == ["ada%40example.com", "Till", "kim%40example.com", "Ada%27s+phone", "Welcome"]
    assert found(owner.get(LOG, {"object": "thing-1"})) == {1, 9}
    assert found(owner.get(LOG, {"object": "thing-0"})) == {2, 4, 6}


def offered(page: Any) -> set[str]:
    """The actions that can be chosen from."""
    choices = page.content.decode().partition('name="action"')[2].partition("</select>")[0]
    return set(re.findall(r'<option value="([^"]+)"', choices))


def recorded(workspace: Workspace) -> set[str]:
    return set(ActivityEntry.objects.filter(workspace_uuid=workspace.uuid).values_list("action", flat=True))


@pytest.mark.usefixtures("entries")
def test_another_workspace_s_entries_are_neither_found_nor_their_actions_offered(b: Tenant) -> None:
    other = dashboard_client(b.workspace)
    ActivityEntry.objects.bulk_create([an_entry(b.workspace, 0)])
    for asked in ({}, {"person": "ada@example.com"}, {"object": "thing-1"}, {"action": "test.recorded_1"}):
        page = other.get(LOG, asked)
        assert found(page) == (set() if asked else {0})
        assert offered(page) == recorded(b.workspace)


@pytest.mark.usefixtures("entries")
def test_only_actions_that_have_happened_here_are_offered(a: Tenant, owner: Client) -> None:
    ActivityEntry.objects.bulk_create([an_entry(a.workspace, 1), an_entry(a.workspace, 1)])
    page = owner.get(LOG, {"action": "test.recorded_3", "from": day(3)})
    assert offered(page) == recorded(a.workspace)
    assert "test.recorded_8" in offered(page)
    assert f'<optgroup label="People"><option value="{a.workspace.owner.email}">' in page.content.decode()
    html = page.content.decode()
    assert '<option value="test.recorded_3" selected>Test recorded 3</option>' in html
    assert f'type="date" name="from" value="{day(3)}"' in html


@pytest.mark.usefixtures("entries")
def test_a_view_of_it_is_kept_and_the_agency_may_only_look(a: Tenant, owner: Client) -> None:
    kept = owner.post("/app/views", {"page": "app:activity", "name": "Agency", "query": "door=agency"}, follow=True)
    assert kept.redirect_chain == [(f"{LOG}?door=agency", 302)]
    assert found(kept) == {3, 4, 7, 8}
    assert found(agency_client(a.workspace).get(LOG, {"door": "key"})) == {2}


def test_older_pages_stay_narrowed(a: Tenant, owner: Client) -> None:
    ActivityEntry.objects.bulk_create(an_entry(a.workspace, 2) for _ in range(30))
    page = owner.get(LOG, {"door": "key"}).content.decode()
    older = re.search(r'rel="next" href="([^"]*)"', page)
    assert older
    rest = owner.get(LOG + older[1].replace("&amp;", "&"))
    assert text(rest).count("Test recorded 2 Entry 2 Till") == 5


def test_each_filter_is_read_by_an_index_of_its_own_and_by_a_bounded_number_of_statements(
    a: Tenant, owner: Client
) -> None:
    by_people_and_keys = [1 + len(ACTORS) * (number // 2) + number % 2 for number in range(DIFFERENT)]
    ActivityEntry.objects.bulk_create(an_entry(a.workspace, number) for number in by_people_and_keys)
    columns = ", ".join(str(field.column) for field in ActivityEntry._meta.concrete_fields if not field.primary_key)
    with connection.cursor() as cursor:
        cursor.execute(AGAIN.format(columns=columns), [ROWS // DIFFERENT - 1])
        cursor.execute("ANALYZE agency_activityentry")
    owner.get(LOG)
    of_each = {
        "door=connect": "by_door",
        "door=agency": "by_agency",
        "action=test.other": "by_action",
        "person=nobody": "by_person",
        "object=thing-9": "by_object",
        f"from={day(0)}": "by_day",
    }
    for asked, index in of_each.items():
        with CaptureQueriesContext(connection) as statements:
            owner.get(f"{LOG}?{asked}")
        assert len(statements) == 9, asked
        listing = [one["sql"] for one in statements if 'ORDER BY "agency_activityentry"."id" DESC' in one["sql"]]
        assert len(listing) == 1
        assert index in plan_of(listing[0]), (asked, plan_of(listing[0]))
        choices = [one["sql"] for one in statements if "WITH RECURSIVE" in one["sql"]]
        assert "Seq Scan" not in plan_of(choices[0])
        assert "by_action" in plan_of(choices[0])


def plan_of(statement: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + statement.replace("%", "%%"), [])
        return "\n".join(row[0] for row in cursor.fetchall())
