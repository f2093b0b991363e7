"""The activity log: every change, in pages that need no counting."""

import re
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM, Actor
from agency.pages.activity import action_label
from agency.pages.registry import ActivityAction, activity_actions
from agency.services import record_activity
from broadcasts.services.moving import BROKE_OFF
from tests import furnished
from tests.agency.console.browsers import a_browser, a_member, text
from tests.factories import PlanFactory
from tests.tenants import Tenant
from workspaces.subaccounts.services import assign_plan, change_workspace, grant_addon

a, b = furnished.a_with_customer, furnished.b_with_customer

pytestmark = pytest.mark.django_db
LOG = "/console/activity"


def entries(a: Tenant, count: int, action: str = "test.recorded") -> None:
    for number in range(1, count + 1):
        record_activity(by=SYSTEM, action=action, agency_id=a.agency.pk, target=("entry", number, f"Entry {number}."))


def notes(page: Any) -> list[int]:
    return [int(number) for number in re.findall(r"Entry (\d+)\.", text(page))]


def link(page: Any, name: str) -> str:
    found = re.search(rf'rel="{name}" href="([^"]+)"', page.content.decode())
    return LOG + found[1].replace("&amp;", "&") if found else ""


def test_a_change_is_there_with_who_when_and_from_where(a: Tenant) -> None:
    member = a_member(a.agency)
    browser = a_browser(member.user)
    browser.post("/console/plans/new", {"name": "Starter"}, REMOTE_ADDR="198.51.100.7")
    assert f"Plan created Starter {member.user.email} 198.51.100.7 just now" in text(browser.get(LOG))


def test_details_are_shown_as_text(a: Tenant, admin: Client) -> None:
    change_workspace(workspace=a.workspace, name="After", by=SYSTEM)
    assign_plan(workspace=a.workspace, plan=PlanFactory.create(agency=a.agency, name="Gold"), now=now(), by=SYSTEM)
    grant_addon(workspace=a.workspace, addon=a.addon, now=now(), by=SYSTEM)
    page = text(admin.get(LOG))
    assert f"Field Before After Name Customer {a.mark} After" in page
    assert f"Plan Plan {a.mark} Gold" in page
    assert f"Add-on: Add-on {a.mark}" in page
    assert "May copy automations: no" in page


def test_details_are_shown_in_the_reader_s_language_and_without_ids(a: Tenant, admin: Client) -> None:
    uuid = str(a.workspace.uuid)
    found: dict[str, dict[str, Any]] = {
        "broadcast.paused": {"reason": BROKE_OFF},
        "channel.connected": {"platform": "whatsapp", "name": "Line 1"},
        "finance.exported": {"file": "datev", "first": "2026-01-01", "last": "2026-03-31"},
        "invoice.issued": {"invoice": uuid, "number": "INV-7"},
        "member.added": {"role": "owner"},
        "webhook.redelivered": {"event": "contact.updated", "delivery": uuid},
    }
    for action, details in found.items():
        target = ("thing", "1", "Thing")
        record_activity(by=SYSTEM, action=action, agency_id=a.agency.pk, target=target, details=details)
    page = admin.get(LOG, headers={"accept-language": "de"})
    shown = text(page)
    for expected in (
        "Grund: Die Vorbereitung dieser Rundsendung brach fünfmal ab.",
        "Plattform: WhatsApp",
        "Datei: Buchungen für DATEV",
        "Erster Tag: 1. Jan. 2026",
        "Rechnung: INV-7",
        "Rolle: Inhaber",
        "Ereignis: contact.updated",
    ):
        assert expected in shown
    assert uuid not in shown


def test_odd_details_are_shown_as_far_as_possible(a: Tenant, admin: Client) -> None:
    details: dict[str, Any] = {
        "list": ["a", "b"],
        "empty": "",
        "gone": None,
        "pair": {"from": None, "to": 3},
        "odd": {"x": 1, "y": 2},
        "starts_at": "2026-12-01T12:00:00.5+00:00",
        "no_month": "2026-13-01T12:00:00+00:00",
        "too_late": "9999-12-31T23:59:59-12:00",
    }
    record_activity(
        by=Actor(kind="system", id="", label="system"),
        action="something.odd_happened",
        agency_id=a.agency.pk,
        target=("thing", "1", "Thing"),
        details=details,
    )
    page = text(admin.get(LOG))
    assert "Odd: x, y" in page
    assert "List: a, b" in page
    assert "Pair: none → 3" in page
    assert "Starts: 1 Dec 2026, 12:00 UTC" in page
    assert "No month: 2026-13-01T12:00:00+00:00" in page
    assert "Too late: 9999-12-31T23:59:59-12:00" in page


def test_an_entry_about_a_sub_account_leads_to_its_page(a: Tenant, admin: Client) -> None:
    uuid = a.workspace.uuid
    assert f'<a href="/console/sub-accounts/{uuid}">' in admin.get(LOG).content.decode()


def test_the_log_is_read_page_by_page_back_and_forth(a: Tenant, admin: Client) -> None:
    entries(a, 60)
    newest = admin.get(f"{LOG}?action=test.recorded")
    middle = admin.get(link(newest, "next"))
    oldest = admin.get(link(middle, "next"))
    assert [notes(page) for page in (newest, middle, oldest)] == [
        list(range(60, 35, -1)),
        list(range(35, 10, -1)),
        list(range(10, 0, -1)),
    ]
    assert (link(newest, "prev"), link(oldest, "next")) == ("", "")
    assert notes(admin.get(link(oldest, "prev"))) == notes(middle)
    back = admin.get(link(middle, "prev"))
    assert notes(back) == notes(newest)
    assert link(back, "prev") == ""


def test_links_keep_the_filter(a: Tenant, admin: Client) -> None:
    entries(a, 30)
    entries(a, 30, action="test.other")
    second = admin.get(link(admin.get(f"{LOG}?action=test.recorded"), "next"))
    assert notes(second) == [5, 4, 3, 2, 1]
    assert "action=test.recorded" in link(second, "prev")


def test_a_filter_that_nothing_matches_differs_from_an_empty_log(a: Tenant, admin: Client) -> None:
    for action in ("no.such", "\0", "x" * 500):
        page = admin.get(LOG, {"action": action})
        assert "No changes match" in text(page)
        assert "Show all activity" in text(page)


@pytest.mark.parametrize("position", ["abc", "-1", "0", "9" * 40, "", "1e3", "%00"])
@pytest.mark.parametrize("way", ["before", "after"])
def test_an_odd_position_in_the_log_is_no_error(position: str, way: str, a: Tenant, admin: Client) -> None:
    assert admin.get(f"{LOG}?{way}={position}").status_code == 200


def test_other_agencies_changes_are_not_shown(a: Tenant, b: Tenant, admin: Client) -> None:
    b.workspace.refresh_from_db()
    assert b.mark not in text(admin.get(LOG))


def test_a_page_of_the_log_takes_one_statement_of_its_own(
    a: Tenant, admin: Client, django_assert_num_queries: Any
) -> None:
    entries(a, 60)
    admin.get(LOG)
    with django_assert_num_queries(8):  # session, person, memberships, team, keys, entries, saved views, the bell's
        admin.get(LOG)


def test_an_app_labels_its_own_actions(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(activity_actions, "_items", {**activity_actions._items})
    activity_actions.add(*ActivityAction.from_labels({"test.named": "Named by a test"}))
    assert action_label("test.named") == "Named by a test"
    assert "Named by a test" in text(admin.get(LOG))
