"""The list of sub-accounts in every order that its heads offer, with pages of any size and counts that stay cheap."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.pages import pagination
from agency.pages.tables import reversed_order
from tests.agency.console.browsers import text
from tests.factories import WorkspaceFactory, many_workspaces
from tests.tenants import Tenant
from tests.workspaces.subaccounts.console.test_list import LIST, link, names
from workspaces.subaccounts.console.sub_accounts import TABLE
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import suspend_workspace

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
ROWS = 10_000


def head(page: Any, label: str) -> tuple[str, str]:
    """How a column is sorted, and by what a click on its head sorts."""
    start = r'<th scope="col"( aria-sort="(\w+)")?>(?:<label.*?</label> )?'
    found = re.search(rf'{start}<a class="sort" href="\?([^"]*)">{label}<', page)
    assert found
    return found[2] or "", found[3].replace("&amp;", "&")


@pytest.fixture
def three(a: Tenant) -> Tenant:
    """Three customers, the newest last."""
    for name, kind in (("b", "other"), ("C", None), ("Ä", "clinic_wellness")):
        WorkspaceFactory.create(agency=a.agency, name=name, business_type=kind)
    suspend_workspace(workspace=a.agency.workspaces.get(name="C"), now=now(), by=SYSTEM)
    return a


@pytest.mark.parametrize(
    ("sort", "found"),
    [
        ("", ["Ä", "C", "b"]),
        ("-created", ["Ä", "C", "b"]),
        ("created", ["b", "C", "Ä"]),
        ("name", ["b", "C", "Ä"]),
        ("-name", ["Ä", "C", "b"]),
        ("status", ["Ä", "b", "C"]),
        ("-status", ["C", "b", "Ä"]),
        ("business_type", ["Ä", "b", "C"]),
        ("-business_type", ["C", "b", "Ä"]),
        ("plan", ["Ä", "C", "b"]),
        ("name; DROP TABLE", ["Ä", "C", "b"]),
        ("--name", ["Ä", "C", "b"]),
    ],
)
def test_each_head_sorts_both_ways_and_anything_else_is_the_usual_order(
    sort: str, found: list[str], three: Tenant, admin: Client
) -> None:
    assert names(admin.get(LIST, {"sort": sort})) == found


def test_the_heads_say_how_the_list_is_sorted_and_turn_it_around(three: Tenant, admin: Client) -> None:
    page = admin.get(LIST, {"status": "active", "page": "1"}).content.decode()
    assert head(page, "Created") == ("descending", "status=active&sort=created")
    assert head(page, "Name") == ("", "status=active&sort=name")
    page = admin.get(LIST, {"sort": "name"}).content.decode()
    assert head(page, "Name") == ("ascending", "sort=-name")
    assert head(page, "Created") == ("", "sort=-created")
    assert '<option value="name" selected>Name, ascending</option>' in page
    assert '<th scope="col">Plan</th>' in page


def test_the_pages_of_an_order_hold_everything_once(a: Tenant, admin: Client) -> None:
    many_workspaces(a.agency, 60)
    for sort in ("name", "-name", "status", "-business_type"):
        page, seen = admin.get(LIST, {"sort": sort}), []
        seen += names(page)
        while link(page, "next"):
            page = admin.get(link(page, "next"))
            seen += names(page)
        assert len(seen) == len(set(seen)) == 60
        if sort == "name":
            assert seen == sorted(seen, key=str.lower)


@pytest.mark.parametrize(("size", "shown"), [("50", 50), ("100", 60), ("7", 25), ("1000000", 60), ("x", 25), ("", 25)])
def test_a_page_is_as_long_as_its_address_says(size: str, shown: int, a: Tenant, admin: Client) -> None:
    many_workspaces(a.agency, 60)
    page = admin.get(LIST, {"size": size, "search": "crowd"})
    assert len(names(page)) == shown
    assert f"1\u2013{shown} of 60" in text(page)
    assert ('name="size" value="50"' in page.content.decode()) is (size == "50")


def test_rows_are_counted_only_so_far(a: Tenant, admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pagination, "MOST_COUNTED", 50)
    many_workspaces(a.agency, 60)
    page = admin.get(LIST, {"search": "crowd", "sort": "created"})
    assert "1\u201325 of 50+" in text(page)
    last = admin.get(LIST, {"search": "crowd", "sort": "created", "page": "9"})
    assert "26\u201350 of 50+" in text(last)
    assert names(last) == [f"Crowd {number}" for number in range(26, 51)]
    assert link(last, "next") == ""
    assert "1\u201325 of 60 " in text(admin.get(LIST))


def test_ten_thousand_are_shown_in_every_order_by_an_index(a: Tenant, admin: Client) -> None:
    many_workspaces(a.agency, ROWS)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE subaccounts_workspace")
    admin.get(LIST)
    every = [(column.name, column.order) for column in TABLE.sortable.values()]
    for name, order in [*every, *((f"-{name}", reversed_order(order)) for name, order in every)]:
        plan = Workspace.objects.of(a.agency).order_by(*order)[1000:1025].explain()
        assert "Sort" not in plan, (name, plan)
        with CaptureQueriesContext(connection) as asked:
            page = admin.get(LIST, {"sort": name, "page": "40"})
        assert len(names(page)) == 25
        assert len(asked) == 8  # as in test_list.py
