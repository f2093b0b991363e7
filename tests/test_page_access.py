"""Access to the pages of all apps for people without a role there, and on every kind of host.

The tables in each area's `test_access.py` say what each role and each customer may do.
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from ipaddress import ip_network
from itertools import product
from typing import Any
from urllib.parse import unquote

import pytest
from django.test import Client, override_settings
from django.utils.timezone import now
from pytest_django import DjangoDbBlocker

from agency.actors import SYSTEM
from agency.console.base import ConsoleView
from agency.services import suspend_agency
from tests import furnished
from tests.agency.console.browsers import a_browser, a_host, a_member, a_person, at_the_console, signed_in_on, text
from tests.agency.console.test_access import ELSEWHERE
from tests.factories import DomainFactory
from tests.flows.white_label import addresses
from tests.furnished import loaded
from tests.packs.small_library import write_library
from tests.page_walk import METHODS, answers, in_turns, one_of_each_check, view_of
from tests.routes import DOCUMENTS, ROUTES, address, api_of, ids_of
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client, member_client

a, b = furnished.a, furnished.b

pytestmark = pytest.mark.django_db
Paths = dict[str, str]


@pytest.fixture(scope="module", autouse=True)
def _installation(furnished_until_end: tuple[bytes, ...], tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Settings for pages about packs and webhooks; the furnished agencies have packs of the product's own library."""
    library = write_library(tmp_path_factory.mktemp("library"))
    with override_settings(PACK_LIBRARY=library, WEBHOOK_ALLOWED_NETWORKS=[ip_network("127.0.0.0/8")]):
        yield


@pytest.fixture(scope="module")
def console(furnished_until_end: tuple[bytes, ...], _installation: None, django_db_blocker: DjangoDbBlocker) -> Paths:
    """The address of every page of the console for one agency, made once for all tests of the module."""
    with django_db_blocker.unblock():
        pages = addresses.of_console(loaded(furnished_until_end[0]))
    assert set(pages) == addresses.names_in("console")
    return {name: path for name, path in pages.items() if name not in ELSEWHERE}


@pytest.fixture(scope="module")
def dashboard(furnished_until_end: tuple[bytes, ...], _installation: None, django_db_blocker: DjangoDbBlocker) -> Paths:
    """The address of every page of the dashboard for one workspace, made once."""
    with django_db_blocker.unblock():
        return addresses.of_dashboard(loaded(furnished_until_end[0]))


def a_supporter() -> Client:
    """Give the browser of a support person who may do everything in the admin."""
    return a_browser(a_person(is_staff=True, is_superuser=True))


OUTSIDERS: dict[str, Callable[[Tenant], Client]] = {
    "a person of no agency": lambda _: a_browser(a_person()),
    "support": lambda _: a_supporter(),
    "the owner of a sub-account": lambda tenant: dashboard_client(tenant.workspace),
    "a member of a sub-account": lambda tenant: member_client(tenant.workspace),
}


def test_every_page_of_the_console_leaves_the_rules_of_access_to_the_console_s_base(console: Paths) -> None:
    """So one page of each declaration shows what all others refuse."""
    views = {view_of(path) for path in console.values()}
    assert {view for view in views if not issubclass(view, ConsoleView)} == set()
    for rule in ("dispatch", "check_access", "may_write", "handle", "_run"):
        assert {getattr(view, rule) for view in views} == {getattr(ConsoleView, rule)}


@pytest.mark.parametrize("method", METHODS)
def test_without_a_session_every_page_of_the_console_leads_to_sign_in(method: str, console: Paths) -> None:
    for name, answer in answers(a_browser(), method, console):
        assert (name, answer.status_code) == (name, 302)
        assert answer["Location"].startswith("/account/sign-in?next=/console/")
        assert method == "post" or unquote(answer["Location"]).endswith(console[name])


def test_nobody_from_outside_the_agency_sees_or_changes_a_page_of_its_console(a: Tenant, console: Paths) -> None:
    browsers = {who: browser(a) for who, browser in OUTSIDERS.items()}
    for (who, method), asked in one_of_each_check([*product(browsers, METHODS)], console).items():
        for name, answer in answers(browsers[who], method, asked):
            assert (who, method, name, answer.status_code) == (who, method, name, 403)
            assert a.mark not in text(answer), name


def test_a_suspended_agency_s_console_is_closed_to_its_owner(a: Tenant, console: Paths) -> None:
    browser = at_the_console(a.agency, "owner")
    suspend_agency(agency=a.agency, reason="", now=now(), by=SYSTEM)
    for method, asked in one_of_each_check(METHODS, console).items():
        for name, answer in answers(browser, method, asked):
            assert (name, answer.status_code) == (name, 403)
            assert b"is suspended" in answer.content, name


def test_on_another_agency_s_host_nobody_comes_in(a: Tenant, b: Tenant, console: Paths) -> None:
    """One browser signs in on the other host. Another brings a session of the host where it signed in.

    tests/flows/white_label/test_every_route.py opens each page on the agency's own host.
    """
    person = a_member(a.agency, "owner").user
    own, others = (signed_in_on(a_host(one.agency), person) for one in (a, b))
    assert own.get(console["plans"]).status_code == 200
    carried = a_browser()
    carried.defaults["HTTP_HOST"] = others.defaults["HTTP_HOST"]
    carried.cookies = deepcopy(own.cookies)
    for method, asked in one_of_each_check(METHODS, console).items():
        for name, answer in answers(others, method, asked):
            assert (name, answer.status_code) == (name, 403)
            assert a.mark not in text(answer), name
    for method, asked in one_of_each_check(METHODS[::-1], console).items():
        for name, answer in answers(carried, method, asked):
            assert (name, answer.status_code) == (name, 302)
            assert answer["Location"].startswith("/account/sign-in?"), name


def everything_of(tenant: Tenant, **pages: Paths) -> Paths:
    """Give every mounted address by its area and name; `pages` has the areas that are already made."""
    ids, person = ids_of(tenant), a_member(tenant.agency, "owner").user
    groups: dict[str, Any] = {
        **pages,
        "account": addresses.of_account(tenant, person),
        "sign-up": addresses.of_sign_up(tenant),
        "connect": addresses.of_connecting(tenant),
        "api": {route: address(route, ids) for route in ROUTES},
        "files": {path: path for path in [*addresses.of_files(tenant), *addresses.OTHERS]},
        "documents": {route: f"/{route}" for route in DOCUMENTS},
    }
    return {f"{group}: {name}": path for group, paths in groups.items() for name, path in paths.items()}


def test_on_a_host_that_is_nobody_s_or_not_verified_nothing_is_there_for_anybody(
    a: Tenant, console: Paths, dashboard: Paths, settings: Any
) -> None:
    """This holds even with a session or a key that works on another host."""
    settings.HOSTS = {"testserver"}
    DomainFactory.create(agency=a.agency, host="waiting.localhost", is_verified=False)
    paths = everything_of(a, console=console, dashboard=dashboard)
    people = {
        "owner": (at_the_console(a.agency, "owner"), api_of("api/agency/v1/", a).key),
        "customer": (dashboard_client(a.workspace), api_of("api/v1/", a).key),
        "support": (a_supporter(), None),
    }
    kinds = [*product(("waiting.localhost", "app.example.org"), people, METHODS)]
    for (host, who, method), asked in in_turns(kinds, paths).items():
        browser, key = people[who]
        headers = {"Host": host} | ({"X-Api-Key": key} if key else {})
        found = {}
        for name, answer in answers(browser, method, asked, headers=headers):
            found[name] = (answer.status_code, b"" if answer.streaming else answer.content)
        assert found == dict.fromkeys(asked, (404, b'{"message":"Not found."}'))
