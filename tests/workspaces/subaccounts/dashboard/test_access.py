"""Every page of the dashboard against everybody who might open it. A page that is missing here fails the tests."""

from collections.abc import Callable
from copy import deepcopy
from itertools import product
from typing import Any
from urllib.parse import unquote

import pytest
from django.test import Client
from django.urls import get_resolver
from django.utils.timezone import now
from pytest_django import DjangoDbBlocker

from agency.actors import SYSTEM
from agency.models import Invitation
from agency.pages.views import FormView
from agency.services import accept_invitation, suspend_agency
from tests import furnished
from tests.agency.console.browsers import a_browser, a_host, a_member, a_person, at_the_console, signed_in_on, text
from tests.factories import WorkspaceFactory
from tests.furnished import loaded
from tests.page_walk import (
    METHODS,
    Ids,
    answers,
    ids_of_both,
    in_turns,
    one_of_each_check,
    statuses,
    takes,
    unlike_unknown_ids,
    view_of,
)
from tests.tenants import Tenant, an_address
from tests.workspaces.subaccounts.dashboard.clients import agency_client, dashboard_client, member_client
from tests.workspaces.subaccounts.dashboard.pages import EXPORTS, LANDING, PAGES, STREAMS, PageCase, address
from workspaces.subaccounts.dashboard.base import CHANGE_ROLES, OWNER_ROLES, DashboardView, Role
from workspaces.subaccounts.services import change_owner, suspend_workspace

a, b = furnished.a, furnished.b
pytestmark = [pytest.mark.slow, pytest.mark.django_db]
EVERY_PAGE = PAGES | LANDING


@pytest.fixture(scope="module")
def all_ids(furnished_until_end: tuple[bytes, ...], django_db_blocker: DjangoDbBlocker) -> tuple[Ids, Ids]:
    """What every page is about, of either agency: made once for all tests of the module."""
    own, foreign = map(loaded, furnished_until_end)
    with django_db_blocker.unblock():
        return ids_of_both(own, foreign, {name: case.ids for name, case in EVERY_PAGE.items()})


@pytest.fixture
def paths(all_ids: tuple[Ids, Ids]) -> dict[str, str]:
    """The address of every page of the workspace."""
    return {name: address(name, all_ids[0][name]) for name in PAGES}


@pytest.fixture
def every_path(all_ids: tuple[Ids, Ids]) -> dict[str, str]:
    """The same with those that lead into a workspace."""
    return {name: address(name, ids) for name, ids in all_ids[0].items()}


def test_the_table_names_every_page_of_the_dashboard() -> None:
    _, resolver = get_resolver().namespace_dict["app"]
    assert {name for name in resolver.reverse_dict if isinstance(name, str)} == EVERY_PAGE.keys()


def declared(name: str, case: PageCase) -> tuple[frozenset[Role], bool]:
    """Give the roles that may change something on a page, and whether only they may open it."""
    return OWNER_ROLES if case.owners else CHANGE_ROLES, case.owners == "all" or name in EXPORTS


def test_each_page_declares_what_the_table_says_and_leaves_the_rest_to_the_dashboard_s_base(
    paths: dict[str, str],
) -> None:
    """So one page of each declaration shows what all others refuse."""
    views: dict[str, Any] = {name: view_of(path) for name, path in paths.items()}
    assert {view for view in views.values() if not issubclass(view, DashboardView)} == set()
    found = {name: (view.writers, view.writers_only) for name, view in views.items()}
    assert found == {name: declared(name, case) for name, case in PAGES.items()}
    for rule in ("dispatch", "check_access", "may_write", "handle", "_run"):
        assert {getattr(view, rule) for view in views.values()} == {getattr(DashboardView, rule)}


@pytest.mark.parametrize("method", METHODS)
def test_without_a_session_every_page_redirects_to_sign_in(method: str, every_path: dict[str, str]) -> None:
    for name, answer in answers(a_browser(), method, every_path):
        assert (name, answer.status_code) == (name, 302)
        assert answer["Location"].startswith("/account/sign-in?next=/app/")
        assert method == "post" or unquote(answer["Location"]).endswith(every_path[name])


def test_the_owner_of_the_workspace_sees_every_file_and_stream(a: Tenant, paths: dict[str, str]) -> None:
    """The pages are opened in tests/flows/white_label/test_every_route.py, on the agency's own host."""
    asked = {name: paths[name] for name in {*STREAMS, *EXPORTS}}
    assert statuses(dashboard_client(a.workspace), "get", asked) == {name: PAGES[name].get for name in asked}


def browser_of(role: str, tenant: Tenant) -> Client:
    """The browser of the workspace's owner, of a member, or of somebody of the agency who has opened it."""
    of_customers = {"owner": dashboard_client, "member": member_client}
    return of_customers[role](tenant.workspace) if role in of_customers else agency_client(tenant.workspace, role)


def is_seen_by(role: str, name: str, case: PageCase) -> bool:
    return case.owners != "all" and not (role == "viewer" and name in EXPORTS)


def is_changed_by(role: str, _: str, case: PageCase) -> bool:
    return role == "owner" or (role != "viewer" and not case.owners)


ROLES = ("viewer", "admin", "member")


def refused(role: str, paths: dict[str, str], open_to: Callable[[str, str, PageCase], bool]) -> dict[str, str]:
    """Give one page of each declaration that closes pages to a role."""
    closed = {name: path for name, path in paths.items() if not open_to(role, name, PAGES[name])}
    return one_of_each_check(ROLES, closed)[role]


def seen_by_a_viewer(paths: dict[str, str]) -> dict[str, str]:
    asked = dict(paths)
    of_template: dict[str, dict[str, str]] = {}
    for name, path in paths.items():
        view: Any = view_of(path)
        if issubclass(view, FormView) and view.get is FormView.get:
            of_template.setdefault(view.template_name, {})[name] = asked.pop(name)
    for forms in of_template.values():
        asked |= one_of_each_check(["viewer"], forms)["viewer"]
    return asked


@pytest.mark.parametrize("role", ROLES)
def test_members_and_the_agency_see_what_is_not_the_owner_s_alone(role: str, a: Tenant, paths: dict[str, str]) -> None:
    """A viewer opens every page, because many pages show a viewer less; a member sees what the owner sees.

    Of the forms that share a template, a viewer opens one of each declaration.
    """
    shared = seen_by_a_viewer(paths) if role == "viewer" else one_of_each_check(ROLES, paths)[role]
    asked = shared | refused(role, paths, is_seen_by)
    found = statuses(browser_of(role, a), "get", asked)
    assert found == {name: PAGES[name].get if is_seen_by(role, name, PAGES[name]) else 403 for name in asked}


CHANGERS = ("owner", "admin", "member")


def asked_to_change(role: str, paths: dict[str, str]) -> dict[str, str]:
    """Give the pages that a role posts to: what is open to owner, admin and member is asked by one of them.

    Of the forms that refuse what is empty, and of the pages that take no form, one of each declaration is asked by each
    of them. tests/test_refused_forms.py has the owner send every form.
    """
    own = {name: path for name, path in paths.items() if name in PAGES}
    shared = {name: path for name, path in own.items() if not PAGES[name].owners}
    alike = {name: path for name, path in shared.items() if PAGES[name].post == 405 or is_refused_form(name, path)}
    open_to_all = in_turns(CHANGERS, {name: path for name, path in shared.items() if name not in alike})
    asked = one_of_each_check(CHANGERS, alike)[role] | open_to_all[role] if role in CHANGERS else {}
    if role == "owner":
        return asked | {name: path for name, path in paths.items() if name not in shared}
    return asked | refused(role, own, is_changed_by)


def is_refused_form(name: str, path: str) -> bool:
    return PAGES[name].post == 422 and issubclass(view_of(path), FormView)


def test_a_page_takes_a_form_if_the_table_says_so(paths: dict[str, str]) -> None:
    assert {name: takes(path, "post") for name, path in paths.items()} == {
        name: case.post != 405 for name, case in PAGES.items()
    }


@pytest.mark.parametrize("role", ["owner", *ROLES])
def test_an_owner_changes_everything_others_what_is_not_the_owner_s_alone_and_a_viewer_nothing(
    role: str, a: Tenant, every_path: dict[str, str]
) -> None:
    found, asked = {}, asked_to_change(role, every_path)
    for name, answer in answers(browser_of(role, a), "post", asked):
        found[name] = answer.status_code
        if answer.status_code == 403:
            assert "Nothing was changed." in text(answer), name
    cases = {name: EVERY_PAGE[name] for name in asked}
    assert found == {name: case.post if is_changed_by(role, name, case) else 403 for name, case in cases.items()}


WITHOUT_WORKSPACE: dict[str, Callable[[Tenant], Client]] = {
    "staff": lambda tenant: at_the_console(tenant.agency, "owner"),
    "nobody": lambda _: a_browser(a_person()),
    "support": lambda _: a_browser(a_person(is_staff=True, is_superuser=True)),
}


def test_support_and_agency_staff_without_a_workspace_stay_outside(a: Tenant, paths: dict[str, str]) -> None:
    browsers = {who: browser(a) for who, browser in WITHOUT_WORKSPACE.items()}
    for (who, method), asked in one_of_each_check([*product(browsers, METHODS)], paths).items():
        for name, answer in answers(browsers[who], method, asked):
            assert (name, answer.status_code) == (name, 403)
            assert "You own no workspace" in text(answer), name


def test_the_owner_of_another_workspace_finds_nothing_there_and_nobody_anything_by_a_malformed_id(
    a: Tenant, b: Tenant, all_ids: tuple[Ids, Ids]
) -> None:
    browser = dashboard_client(a.workspace)
    assert unlike_unknown_ids(browser, all_ids[1], address, b.mark, own=all_ids[0]) == []


def test_on_another_agency_s_host_nobody_comes_in(a: Tenant, b: Tenant, paths: dict[str, str]) -> None:
    """Neither by signing in there nor with the session of the own host.

    On the agency's own host each page is opened in tests/flows/white_label/test_every_route.py.
    """
    person = a_person()
    change_owner(workspace=a.workspace, name="Nora", email=person.email, now=now(), by=SYSTEM)
    accept_invitation(invitation=Invitation.objects.get(email=person.email), user=person, now=now(), by=SYSTEM)
    own, others = (signed_in_on(a_host(one.agency), person) for one in (a, b))
    assert own.get(paths["automations"]).status_code == 200
    carried = a_browser()
    carried.defaults["HTTP_HOST"] = others.defaults["HTTP_HOST"]
    carried.cookies = deepcopy(own.cookies)
    for method, asked in one_of_each_check(METHODS, paths).items():
        for name, answer in answers(others, method, asked):
            assert (name, answer.status_code) == (name, 403)
            assert a.mark not in text(answer), name
    for method, asked in one_of_each_check(METHODS[::-1], paths).items():
        for name, answer in answers(carried, method, asked):
            assert (name, answer.status_code) == (name, 302)
            assert answer["Location"].startswith("/account/sign-in?"), name


@pytest.mark.parametrize("name", ["automation", "automation-on", "automation-off"])
def test_neither_does_a_neighbour_at_the_same_agency(name: str, a: Tenant) -> None:
    ids = PAGES[name].ids(a)
    browser = dashboard_client(WorkspaceFactory.create(agency=a.agency))
    assert browser.get(address(name, ids), follow=True).status_code == 404
    assert browser.post(address(name, ids)).status_code == 404


CLOSED = [*product(("workspace", "agency"), METHODS)]


@pytest.mark.parametrize(("which", "method"), CLOSED)
def test_a_workspace_that_is_suspended_or_whose_agency_is_shows_a_page_that_says_so(
    which: str, method: str, a: Tenant, paths: dict[str, str]
) -> None:
    browser, reason = dashboard_client(a.workspace), "Did not pay"
    if which == "workspace":
        suspend_workspace(workspace=a.workspace, reason=reason, now=now(), by=SYSTEM)
    else:
        suspend_agency(agency=a.agency, reason=reason, now=now(), by=SYSTEM)
    for name, answer in answers(browser, method, one_of_each_check(CLOSED, paths)[which, method]):
        assert (name, answer.status_code) == (name, 403)
        assert f"{a.workspace.name} is suspended" in text(answer), name
        assert reason not in text(answer), name


def test_no_page_takes_a_forged_post(a: Tenant, every_path: dict[str, str]) -> None:
    """No page is exempt: each is its class alone, as `one_of_each_check` finds."""
    browser = Client(enforce_csrf_checks=True, REMOTE_ADDR=an_address())
    browser.force_login(a.workspace.owner)
    posts = {name: path for name, path in every_path.items() if EVERY_PAGE[name].post != 405}
    of_the_base = one_of_each_check(["post"], {name: path for name, path in posts.items() if name in PAGES})["post"]
    asked = of_the_base | {name: path for name, path in posts.items() if name in LANDING}
    assert statuses(browser, "post", asked) == dict.fromkeys(asked, 403)


def test_a_member_of_the_agency_who_owns_a_workspace_sees_that_one(a: Tenant) -> None:
    staff = a_member(a.agency, "viewer")
    workspace = WorkspaceFactory.create(agency=a.agency, owner_email=staff.user.email, name="Own shop")
    assert workspace.owner == staff.user
    assert "Own shop" in text(a_browser(staff.user).get("/app/automations"))
