"""What holds on every page: no forged requests, no frames, no caching, no foreign script."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Agency, AgencyKey
from agency.services import create_addon, create_plan, issue_agency_key
from tests import furnished
from tests.agency.console.browsers import a_browser, a_member, at_the_console, hidden
from tests.agency.console.test_access import PAGES
from tests.factories import addon_limits, plan_limits
from tests.page_walk import answers, in_turns, one_of_each_check, statuses
from tests.tenants import Tenant, an_address
from workspaces.subaccounts.services import create_workspace, grant_addon, suspend_workspace

a = furnished.a_with_customer

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
NASTY = '</script><script>alert("x")</script><img src=x onerror=alert(1)>{{7*7}}'
# A file is no page: no browser shows it.
LOOKS = [name for name, access in PAGES.items() if access.looks and name != "export-file"]
POSTS = [name for name, access in PAGES.items() if access.posts]
LOSE_RACE = """
CREATE FUNCTION lose_race() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'somebody else was first' USING ERRCODE = '{state}'; END $$;
CREATE TRIGGER race BEFORE INSERT ON packs_pack FOR EACH ROW EXECUTE FUNCTION lose_race();
"""
OTHERS = [
    "/account/sign-in",
    "/account/sign-out",
    "/account/password-reset",
    "/account/profile",
    "/account/password",
    "/account/invitations/0b7f8a52-6f0e-4d86-9c56-0d1f4c9a7b11/accept",
    "/account/invitations/0b7f8a52-6f0e-4d86-9c56-0d1f4c9a7b11/decline",
    "/account/teams/1/leave",
    "/console/switch",
]


def a_strict_browser(agency: Agency) -> Client:
    """A browser against which forged requests are checked, as in production."""
    browser = Client(enforce_csrf_checks=True, REMOTE_ADDR=an_address())
    browser.force_login(a_member(agency, "owner").user)
    return browser


def paths_of(names: list[str], tenant: Tenant) -> dict[str, str]:
    return {name: reverse(f"console:{name}", args=PAGES[name].ids(tenant)) for name in names}


def test_no_page_takes_a_forged_post(a: Tenant) -> None:
    """No page is exempt: each is its class alone, as `one_of_each_check` finds. So one of each declaration is asked."""
    browser = a_strict_browser(a.agency)
    asked = one_of_each_check(["without a token", "with another's"], paths_of(POSTS, a))
    without, wrong = asked.values()
    assert statuses(browser, "post", without) == dict.fromkeys(without, 403)
    browser.get("/console/")
    assert statuses(browser, "post", wrong, data={"csrfmiddlewaretoken": "x" * 64}) == dict.fromkeys(wrong, 403)


@pytest.mark.parametrize("path", OTHERS)
def test_neither_do_the_ways_in_and_out(path: str, a: Tenant) -> None:
    assert a_strict_browser(a.agency).post(path).status_code == 403


def test_a_token_from_the_page_is_taken_but_not_from_another_origin(a: Tenant) -> None:
    browser = a_strict_browser(a.agency)
    page = browser.get("/console/plans/new")
    fields = {"csrfmiddlewaretoken": str(page.context["csrf_token"]), "name": "Starter"}
    for origin in ("null", "https://evil.example"):
        assert browser.post("/console/plans/new", fields, headers={"Origin": origin}).status_code == 403
    assert browser.post("/console/plans/new", fields, headers={"Origin": "http://testserver"}).status_code == 302


def assert_kept_by_nobody_and_in_no_frame(name: str, page: Any) -> None:
    assert "no-store" in page["Cache-Control"], name
    if name == "unread":  # JSON for the pages' script
        assert (page["Content-Type"], page["X-Content-Type-Options"]) == ("application/json", "nosniff")
        return
    assert page["X-Frame-Options"] == "DENY", name
    policy = page["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy, name
    assert "unsafe-inline" not in policy, name
    assert b"<style" not in page.content, name
    assert b" style=" not in page.content, name
    assert page.content.count(b"<script") == page.content.count(b'<script type="module" src="/static/'), name


def assert_harmless(name: str, page: Any) -> None:
    for raw in (b"<script>alert", b"<img src=x", b"49&lt;"):
        assert raw not in page.content, name


@pytest.fixture
def nasty(a: Tenant) -> Tenant:
    """An agency all of whose texts are hostile."""
    Agency.objects.filter(pk=a.agency.pk).update(name=NASTY[:120])
    a.agency.refresh_from_db()
    a.plan = create_plan(agency=a.agency, name=NASTY, description=NASTY, limits=plan_limits(), by=SYSTEM)
    a.addon = create_addon(agency=a.agency, name=NASTY, description=NASTY, limits=addon_limits(), by=SYSTEM)
    a.workspace = create_workspace(
        agency=a.agency,
        name=NASTY,
        owner_name=NASTY,
        owner_email="owner@example.com",
        plan=a.plan,
        now=now(),
        by=SYSTEM,
    )
    grant_addon(workspace=a.workspace, addon=a.addon, now=now(), by=SYSTEM)
    suspend_workspace(workspace=a.workspace, reason=NASTY, now=now(), by=SYSTEM)
    AgencyKey.objects.filter(agency=a.agency).delete()
    a.key, _ = issue_agency_key(agency=a.agency, name=NASTY, can_copy=False, by=SYSTEM)
    a_member(a.agency, "viewer", name=NASTY)
    return a


def test_pages_are_kept_by_nobody_and_shown_in_no_frame_and_hostile_texts_stay_texts(nasty: Tenant) -> None:
    browser = at_the_console(nasty.agency, "owner")
    for name, page in answers(browser, "get", paths_of(LOOKS, nasty)):
        assert_kept_by_nobody_and_in_no_frame(name, page)
        assert_harmless(name, page)
    assert b"&lt;script&gt;alert" in browser.get("/console/").content


def test_hostile_texts_stay_texts_for_a_viewer(nasty: Tenant) -> None:
    """A viewer sees parts of the pages that an owner opens, so a half of the pages is opened."""
    browser = at_the_console(nasty.agency, "viewer")
    seen = paths_of([name for name in LOOKS if "viewer" in PAGES[name].looks], nasty)
    for name, page in answers(browser, "get", in_turns(("viewer", "owner"), seen)["viewer"]):
        assert page.status_code == 200, name
        assert_harmless(name, page)
    assert b"&lt;script&gt;alert" in browser.get("/console/").content


def test_a_hostile_filter_stays_a_text(owner: Client) -> None:
    for path in ("/console/sub-accounts", "/console/activity", "/console/plans", "/account/sign-in"):
        page = owner.get(path, {"search": NASTY, "action": NASTY, "next": NASTY, "page": NASTY, "show": NASTY})
        assert b"<script>alert" not in page.content


def test_an_error_page_names_the_request_and_nothing_of_the_agency(a: Tenant, owner: Client) -> None:
    page = owner.get("/console/no-such-page", headers={"X-Request-Id": "req-4711"})
    assert page.status_code == 404
    assert b"req-4711" in page.content
    assert a.mark.encode() not in page.content


@pytest.mark.parametrize("state", ["40P01", "40001", "55P03"])
def test_whoever_lost_a_race_in_the_database_is_asked_to_try_again(owner: Client, state: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(LOSE_RACE.format(state=state))
    owner.raise_request_exception = False
    nonce = hidden(owner.get("/console/packs/new"), "nonce")
    page = owner.post("/console/packs/new", {"name": "Spring", "nonce": nonce})
    assert (page.status_code, page["Retry-After"]) == (503, "2")
    assert b"Please try again in a few seconds" in page.content


def test_the_short_address_leads_to_the_console() -> None:
    assert a_browser().get("/console")["Location"] == "/console/"
