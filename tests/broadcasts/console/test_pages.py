"""Broadcasts of sub-accounts at the console: read by everybody there, changed by nobody, of no other agency."""

from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver, reverse

from tests import furnished
from tests.agency.console.browsers import a_browser, a_person, at_the_console, text
from tests.broadcasts.under_way import a_broadcast, a_busy_broadcast, a_draft
from tests.tenants import Tenant

a, b = furnished.a, furnished.b

pytestmark = pytest.mark.django_db
LIST = "/console/broadcasts"


def test_these_are_all_pages_about_broadcasts() -> None:
    _, resolver = get_resolver().namespace_dict["console"]
    names = {name for name in resolver.reverse_dict if isinstance(name, str)}
    assert {name for name in names if name.startswith("broadcast")} == {"broadcasts", "broadcast"}


@pytest.mark.parametrize("role", ["owner", "admin", "viewer"])
def test_all_roles_read_them_and_nobody_changes_them(a: Tenant, role: str) -> None:
    broadcast = a_busy_broadcast(a.channel, name=f"Sale {a.mark}")
    browser = at_the_console(a.agency, role)
    one = reverse("console:broadcast", args=[broadcast.uuid])

    assert f"Sale {a.mark}" in text(browser.get(LIST))
    shown = text(browser.get(one))
    assert f"Sale {a.mark}" in shown
    assert "Out of order." in shown
    assert "<form" not in shown.partition("<main")[2]
    assert browser.post(LIST).status_code == browser.post(one).status_code == (403 if role == "viewer" else 405)


def test_the_way_back_is_in_the_page_s_language(a: Tenant) -> None:
    page = at_the_console(a.agency).get(f"{LIST}/{a_draft(a.channel).uuid}", headers={"Accept-Language": "de"})
    assert [str(label) for label, _ in page.context["crumbs"]] == ["Rundsendungen"]


def test_nobody_else_sees_them(a: Tenant, b: Tenant) -> None:
    own, foreign = a_draft(a.channel), a_draft(b.channel, name=f"Sale {b.mark}")
    browser = at_the_console(a.agency, "owner")

    assert b.mark not in text(browser.get(LIST))
    answers = [browser.get(f"{LIST}/{one}", headers={"X-Request-Id": "same"}) for one in (foreign.uuid, uuid4())]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content
    for path in (LIST, f"{LIST}/{own.uuid}"):
        assert a_browser().get(path)["Location"].startswith("/account/sign-in?next=/console/")
        assert a_browser(a_person()).get(path).status_code == 403


def test_the_list_is_paged_filtered_and_costs_the_same_however_long_it_is(a: Tenant) -> None:
    browser = at_the_console(a.agency, "viewer")
    a_draft(a.channel, name="The oldest")
    with CaptureQueriesContext(connection) as few:
        browser.get(LIST)
    for number in range(26):
        a_broadcast(channel=a.channel, name=f"Broadcast {number}")

    with CaptureQueriesContext(connection) as many:
        first = text(browser.get(LIST))
    assert len(many) <= len(few) + 1
    assert "Broadcast 25" in first
    assert "The oldest" not in first
    assert "Older" in first
    assert "The oldest" in text(browser.get(LIST, {"size": "50"}))
    drafts = text(browser.get(f"{LIST}?status=Draft"))
    assert "The oldest" in drafts
    assert "Broadcast 25" not in drafts
    assert "No broadcast has this status" in text(browser.get(f"{LIST}?status=cancelled"))
