"""Every page of the dashboard against everybody who might open it. A page that is missing here fails the tests."""

from copy import deepcopy
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import get_resolver
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Invitation
from agency.services import accept_invitation, suspend_agency
from tests import furnished
from tests.agency.console.browsers import a_browser, a_host, a_member, a_person, at_the_console, signed_in_on, text
from tests.factories import (
    WorkspaceFactory,
)
from tests.tenants import Tenant, an_address
from tests.workspaces.subaccounts.dashboard.clients import agency_client, dashboard_client, member_client
from tests.workspaces.subaccounts.dashboard.pages import EXPORTS, LANDING, PAGES, STREAMS, address, no_ids
from workspaces.subaccounts.services import change_owner, suspend_workspace

a, b = furnished.a, furnished.b
pytestmark = pytest.mark.django_db
every_workspace_page = pytest.mark.parametrize("name", PAGES)
every_page = pytest.mark.parametrize("name", [*PAGES, *LANDING])
pages_with_ids = pytest.mark.parametrize("name", [name for name, case in PAGES.items() if case.ids is not no_ids])


def test_the_table_names_every_page_of_the_dashboard() -> None:
    _, resolver = get_resolver().namespace_dict["app"]
    assert {name for name in resolver.reverse_dict if isinstance(name, str)} == PAGES.keys() | LANDING.keys()


@every_page
def test_whoever_has_not_signed_in_is_led_to_the_sign_in_page(name: str, a: Tenant) -> None:
    path = address(name, (PAGES | LANDING)[name].ids(a))
    for answer in (a_browser().get(path), a_browser().post(path)):
        assert answer.status_code == 302
        assert answer["Location"].startswith("/account/sign-in?next=/app/")
    assert unquote(a_browser().get(path)["Location"]).endswith(path)


@every_page
def test_the_owner_of_the_workspace_comes_in(name: str, a: Tenant) -> None:
    case, browser = (PAGES | LANDING)[name], dashboard_client(a.workspace)
    path = address(name, case.ids(a))
    assert browser.get(path).status_code == case.get
    assert browser.post(path).status_code == case.post


@every_workspace_page
def test_members_and_the_agency_do_what_is_not_the_owner_s_alone_and_a_viewer_looks(name: str, a: Tenant) -> None:
    case = PAGES[name]
    browsers = {
        "viewer": agency_client(a.workspace, "viewer"),
        "admin": agency_client(a.workspace, "admin"),
        "member": member_client(a.workspace),
    }
    for role, browser in browsers.items():
        is_kept = role == "viewer" and name in EXPORTS
        looked = browser.get(address(name, case.ids(a)))
        assert (role, looked.status_code) == (role, 403 if case.owners == "all" or is_kept else case.get)
    for role, browser in browsers.items():
        posted = browser.post(address(name, case.ids(a)))
        assert (role, posted.status_code) == (role, 403 if role == "viewer" or case.owners else case.post)
        if posted.status_code == 403:
            assert "Nothing was changed." in text(posted)


@every_workspace_page
def test_agency_staff_without_a_workspace_stay_outside(name: str, a: Tenant) -> None:
    path = address(name, PAGES[name].ids(a))
    for browser in (at_the_console(a.agency, "owner"), a_browser(a_person())):
        for answer in (browser.get(path), browser.post(path)):
            assert answer.status_code == 403
            assert "You own no workspace" in text(answer)


@pages_with_ids
def test_the_owner_of_another_workspace_finds_nothing_there(name: str, a: Tenant, b: Tenant) -> None:
    case, browser = PAGES[name], dashboard_client(a.workspace)
    foreign = case.ids(b)
    for method in (browser.get, browser.post):
        answers = [
            method(address(name, ids), headers={"X-Request-Id": "same"})
            for ids in (foreign, [uuid4() for _ in foreign])
        ]
        if answers[0].status_code == (302 if method == browser.get else 405):
            continue
        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].content == answers[1].content
        assert b.mark.encode() not in answers[0].content


def test_on_the_agency_s_own_host_a_page_is_as_elsewhere_and_on_another_s_nobody_comes_in(a: Tenant, b: Tenant) -> None:
    """Whoever signs in there, or brings along the session of the own host."""
    person = a_person()
    change_owner(workspace=a.workspace, name="Nora", email=person.email, now=now(), by=SYSTEM)
    accept_invitation(invitation=Invitation.objects.get(email=person.email), user=person, now=now(), by=SYSTEM)
    own, others = (signed_in_on(a_host(one.agency), person) for one in (a, b))
    carried = a_browser()
    carried.defaults["HTTP_HOST"] = others.defaults["HTTP_HOST"]
    for name, case in PAGES.items():
        path = address(name, case.ids(a))
        assert (name, own.get(path).status_code) == (name, case.get)
        for answer in (others.get(path), others.post(path)):
            assert (name, answer.status_code) == (name, 403)
            assert a.mark not in text(answer)
        carried.cookies = deepcopy(own.cookies)
        for answer in (carried.get(path), carried.post(path)):
            assert (name, answer.status_code) == (name, 302)
            assert answer["Location"].startswith("/account/sign-in?")


@pytest.mark.parametrize("name", ["automation", "automation-on", "automation-off"])
def test_neither_does_a_neighbour_at_the_same_agency(name: str, a: Tenant) -> None:
    ids = PAGES[name].ids(a)
    browser = dashboard_client(WorkspaceFactory.create(agency=a.agency))
    assert browser.get(address(name, ids), follow=True).status_code == 404
    assert browser.post(address(name, ids)).status_code == 404


@pages_with_ids
def test_a_malformed_id_is_not_found(name: str, a: Tenant) -> None:
    browser = dashboard_client(a.workspace)
    ids = PAGES[name].ids(a)
    path = address(name, ids).replace(str(ids[0]), "%00x")
    assert {browser.get(path).status_code, browser.post(path).status_code} <= {404, 405}


@every_workspace_page
def test_a_suspended_workspace_shows_a_page_that_says_so(name: str, a: Tenant) -> None:
    path = address(name, PAGES[name].ids(a))
    browser = dashboard_client(a.workspace)
    suspend_workspace(workspace=a.workspace, reason="Did not pay", now=now(), by=SYSTEM)
    for answer in (browser.get(path), browser.post(path)):
        assert answer.status_code == 403
        assert f"{a.workspace.name} is suspended" in text(answer)
        assert "Did not pay" not in text(answer)


@every_workspace_page
def test_so_does_a_workspace_of_a_suspended_agency(name: str, a: Tenant) -> None:
    path = address(name, PAGES[name].ids(a))
    browser = dashboard_client(a.workspace)
    suspend_agency(agency=a.agency, reason="", now=now(), by=SYSTEM)
    for answer in (browser.get(path), browser.post(path)):
        assert answer.status_code == 403
        assert "is suspended" in text(answer)


@pytest.mark.parametrize("name", [name for name, case in (PAGES | LANDING).items() if case.post != 405])
def test_no_page_takes_a_forged_post(name: str, a: Tenant) -> None:
    browser = Client(enforce_csrf_checks=True, REMOTE_ADDR=an_address())
    browser.force_login(a.workspace.owner)
    assert browser.post(address(name, (PAGES | LANDING)[name].ids(a))).status_code == 403


@pytest.mark.parametrize(
    "name", [name for name, case in (PAGES | LANDING).items() if case.get == 200 and name not in STREAMS]
)
def test_pages_are_kept_by_nobody_and_need_no_script_of_their_own(name: str, a: Tenant) -> None:
    page: Any = dashboard_client(a.workspace).get(address(name, (PAGES | LANDING)[name].ids(a)))
    assert "no-store" in page["Cache-Control"]
    content = b"".join(page)
    assert b" style=" not in content
    assert content.count(b"<script") == content.count(b'<script type="module" src="/static/')


def test_a_member_of_the_agency_who_owns_a_workspace_sees_that_one(a: Tenant) -> None:
    staff = a_member(a.agency, "viewer")
    workspace = WorkspaceFactory.create(agency=a.agency, owner_email=staff.user.email, name="Own shop")
    assert workspace.owner == staff.user
    assert "Own shop" in text(a_browser(staff.user).get("/app/automations"))
