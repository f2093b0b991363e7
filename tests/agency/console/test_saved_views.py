"""Views of lists that people keep: everything that a list shows stands in its address, and they give it a name."""

import re
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from agency.actors import SYSTEM
from agency.models import ActivityEntry, SavedView
from agency.services.members import erase_user
from agency.services.page_records import MOST_VIEWS
from tests.agency.console.browsers import at_the_console, flashes, text
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db
LIST = "/console/sub-accounts"
SUSPENDED = "sort=name&status=suspended"


def save(browser: Client, name: str, query: str = SUSPENDED, page: str = "console:sub-accounts") -> Any:
    return browser.post("/console/views", {"page": page, "name": name, "query": query}, follow=True)


def views(answer: Any) -> list[tuple[str, str, bool]]:
    """Each view's query, its name, and whether it is the one that is shown."""
    listed = answer.content.decode().partition('aria-label="Saved views"')[2].partition("</ul>")[0]
    found = re.findall(r'<a href="\?([^"]*)"( aria-current="page")?>([^<]*)</a>', listed)
    return [(query.replace("&amp;", "&"), name, bool(current)) for query, current, name in found]


def test_a_view_is_kept_with_its_name_and_leads_back_to_what_it_showed(admin: Client) -> None:
    answer = save(admin, "  Closed ")
    assert answer.redirect_chain == [(f"{LIST}?{SUSPENDED}", 302)]
    assert flashes(answer) == ["The view Closed was saved."]
    assert views(answer) == [(SUSPENDED, "Closed", True)]
    assert views(admin.get(LIST)) == []  # without anything to list or filter there is nothing to choose
    assert views(admin.get(LIST, {"status": "active"})) == [(SUSPENDED, "Closed", False)]


def test_the_same_name_takes_the_new_query(admin: Client) -> None:
    save(admin, "Closed")
    assert views(save(admin, "CLOSED", "status=active")) == [("status=active", "CLOSED", True)]


def test_the_form_stands_only_where_there_is_something_to_keep(a: Tenant, admin: Client) -> None:
    assert "Save this view" in text(admin.get(LIST, {"status": "active"}))
    assert "Save this view" not in text(admin.get(LIST, {"sort": "-created", "size": "25", "status": ""}))
    shown = admin.get(LIST, {"status": "active", "search": " b ", "page": "3", "sort": "name"}).content.decode()
    assert 'name="query" value="search=b&amp;sort=name&amp;status=active"' in shown


def test_a_view_is_nobody_else_s_and_of_one_agency(a: Tenant, b: Tenant, admin: Client, viewer: Client) -> None:
    save(admin, "Closed")
    assert views(viewer.get(LIST, {"status": "active"})) == []
    assert views(save(viewer, "Mine")) == [(SUSPENDED, "Mine", True)]
    assert SavedView.objects.filter(area=a.agency.uuid).count() == 2
    assert views(at_the_console(b.agency).get(LIST, {"status": "active"})) == []


def test_a_view_is_removed_by_its_owner_alone(admin: Client, viewer: Client) -> None:
    save(admin, "Closed")
    sent = {"page": "console:sub-accounts", "view": str(SavedView.objects.get().uuid)}
    assert flashes(viewer.post("/console/views/remove", sent, follow=True)) == ["The view was already removed."]
    assert SavedView.objects.count() == 1
    assert flashes(admin.post("/console/views/remove", sent, follow=True)) == ["The view Closed was removed."]
    assert not SavedView.objects.exists()
    for view in ("", "x", str(uuid4())):
        again = admin.post("/console/views/remove", {**sent, "view": view}, follow=True)
        assert flashes(again) == ["The view was already removed."]


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"name": "x" * 61},
        {"name": "a\0b"},
        {"query": ""},
        {"query": "page=3"},
        {"query": "search=" + "x" * 2000},
        {"page": "console:home"},
        {"page": "nothing"},
        {"page": "https://example.com"},
    ],
)
def test_what_cannot_be_kept_is_refused(wrong: dict[str, str], admin: Client) -> None:
    answer = save(admin, **{"name": "Closed", **wrong})
    assert answer.status_code == 200
    assert len(flashes(answer)) == 1
    assert not SavedView.objects.exists()


def test_there_are_at_most_twenty_of_a_list(admin: Client) -> None:
    for number in range(MOST_VIEWS):
        save(admin, f"View {number}")
    assert flashes(save(admin, "One more")) == ["There are 20 saved views of this list already. Remove one first."]
    assert flashes(save(admin, "view 3", "status=active")) == ["The view view 3 was saved."]
    assert SavedView.objects.count() == MOST_VIEWS


def test_they_change_nothing_of_the_agency_and_go_with_the_person(a: Tenant, admin: Client) -> None:
    before = ActivityEntry.objects.filter(agency=a.agency).count()
    save(admin, "Closed")
    assert ActivityEntry.objects.filter(agency=a.agency).count() == before
    erase_user(user=SavedView.objects.get().user, email=f"{uuid4()}@erased.invalid", by=SYSTEM)
    assert not SavedView.objects.exists()
