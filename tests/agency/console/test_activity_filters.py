"""The activity log's filters: each narrows, they combine, and the file keeps what the page keeps."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.actors import Actor, ActorKind
from agency.console.exports import ACTIVITY
from agency.models import ActivityEntry
from agency.services.jobs.selections import Selection
from tests.agency.console.browsers import text
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db
LOG = "/console/activity"


@pytest.fixture
def entries(a: Tenant) -> None:
    """Four changes: two by one key and two by a person, of two things, on four days."""
    doors: tuple[tuple[ActorKind, str], ...] = (("agency_key", "Billing"), ("user", "kim@example.com"))
    for number in range(4, 0, -1):
        kind, label = doors[number % 2]
        ActivityEntry.objects.create(
            agency=a.agency,
            at=now() - timedelta(days=number),
            actor_kind=Actor(kind=kind, id="", label=label).kind,
            actor_label=label,
            action="test.recorded",
            target_kind="entry",
            target_id=f"thing-{number // 3}",
            target_name=f"Entry {number}.",
        )


def day(ago: int) -> str:
    return (now() - timedelta(days=ago)).date().isoformat()


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
        for name in ("to", "from"):
            page = admin.get(LOG, {name: value})
            assert page.status_code == 200, (name, value)
    assert "No such change" in text(admin.get(LOG, {"to": "yesterday"}))
    assert "No such change" in text(admin.get(LOG, {"person": "\0"}))


@pytest.mark.usefixtures("entries")
def test_the_form_shows_what_it_was_asked_for(admin: Client) -> None:
    html = admin.get(LOG, {"from": day(3), "door": "user"}).content.decode()
    assert f'type="date" name="from" value="{day(3)}"' in html
    assert '<option value="user" selected>' in html
