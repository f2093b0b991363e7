"""Every route on each of two agencies' hosts, for somebody who belongs to both: nothing of the other or the product."""

from collections.abc import Callable, Iterable, Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import Agency, User
from agency.pages import branding
from agency.services import invite_member
from tests.agency.console.browsers import a_person
from tests.flows.white_label import addresses
from tests.flows.white_label.agencies import HostedAgency, Hosts, resources_of, text_of, title_of, traces_in
from tests.packs.small_library import write_library
from tests.page_walk import in_turns
from tests.routes import ROUTES, address, api_of, ids_of
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.pages import LANDING, PAGES

pytestmark = pytest.mark.django_db
EVERY_PAGE = PAGES | LANDING


@pytest.fixture(autouse=True)
def _installation(settings: Any, tmp_path: Path) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    settings.DOMAIN_TARGET = "customers.example.net"  # what agencies are told to name in their DNS
    settings.PACK_LIBRARY = write_library(tmp_path / "library")


def wrong_with(answer: Any, path: str, here: HostedAgency, other: HostedAgency) -> list[str]:
    """Say what a page shows that it should not, and what it does not show."""
    page = text_of(answer)
    found = [f"{path}: it shows {trace}" for trace in traces_in(page, other)]
    if answer.status_code >= 500:
        found.append(f"{path}: {answer.status_code}")
    if "<title>" in page:
        wanted = (f"/brand/{here.colour}.css", here.brand.favicon_digest)
        found += [f"{path}: {trace} is missing" for trace in wanted if trace not in page]
        if not title_of(page).endswith(here.tenant.agency.name):
            found.append(f"{path}: its title is {title_of(page)}")
    return found


def kept_or_scripted(answer: Any, path: str) -> list[str]:
    """Say what a page for signed-in people may not do: be kept, carry styles, or carry scripts of its own."""
    found = [] if "no-store" in answer.headers.get("Cache-Control", "") else [f"{path}: it may be kept"]
    if answer.streaming:
        return found + [f"{path}: a page that streams" for _ in range("html" in answer.headers["Content-Type"])]
    page = text_of(answer)
    found += [f"{path}: it has a style" for _ in range(page.count(" style="))]
    own = page.count("<script") - page.count('<script type="module" src="/static/')
    return found + [f"{path}: it has a script of its own" for _ in range(own)]


Check = Callable[[Any, str], list[str]]


def walk(
    browser: Client, paths: Iterable[str], here: HostedAgency, other: HostedAgency, *more: Check
) -> dict[str, int]:
    """Open every page, and everything that the pages fetch; give the status of each page.

    `more` say what else is wrong with a page that is shown.
    """
    found, resources, statuses = [], set(), {}
    for path in paths:
        answer = browser.get(path)
        statuses[path] = answer.status_code
        found += wrong_with(answer, path, here, other)
        if answer.status_code == 200:
            found += [fault for check in more for fault in check(answer, path)]
        resources |= resources_of(text_of(answer) if not answer.streaming else "")
    for resource in sorted(resources):
        answer = browser.get(resource)
        if answer.status_code != 200:
            found.append(f"{resource}: {answer.status_code}")
        found += [f"{resource}: it shows {trace}" for trace in traces_in(text_of(answer), other)]
        found += [f"{resource}: its address" for _ in traces_in(resource, other)]
    assert not found, "\n".join(found)
    return statuses


def each_way(hosts: Hosts) -> list[tuple[HostedAgency, HostedAgency]]:
    return [hosts, (hosts[1], hosts[0])]


def in_their_turn(
    hosts: Hosts, pages_of: Callable[[Tenant], dict[str, str]]
) -> Iterator[tuple[HostedAgency, HostedAgency, dict[str, str]]]:
    """Give each host with the pages that are opened there: each page on one of them, at full size on both.

    What the pages are about is there for both agencies before the first page is opened.
    """
    pages = [pages_of(one.tenant) for one in hosts]
    turns = in_turns((0, 1), pages[0])
    for number, (here, other) in enumerate(each_way(hosts)):
        yield here, other, {name: pages[number][name] for name in turns[number]}


def test_the_tables_know_everything_that_is_mounted() -> None:
    assert addresses.namespaces() == addresses.NAMESPACES


def test_the_console(hosts: Hosts, person: User) -> None:
    wanted = addresses.statuses_at_console("owner")
    opened: set[str] = set()
    for here, other, pages in in_their_turn(hosts, addresses.of_console):
        opened |= set(pages)
        statuses = walk(here.browser(person), pages.values(), here, other)
        assert {name: statuses[path] for name, path in pages.items()} == {name: wanted[name] for name in pages}
    assert opened == addresses.names_in("console") == set(wanted)


def test_the_dashboard_shows_an_owner_pages_that_nobody_keeps_and_that_need_no_script_of_their_own(
    hosts: Hosts, person: User
) -> None:
    opened: set[str] = set()
    for here, other, pages in in_their_turn(hosts, addresses.of_dashboard):
        opened |= set(pages)
        paths = {name: path for name, path in pages.items() if f"app:{name}" not in addresses.ENDLESS}
        statuses = walk(here.browser(person), paths.values(), here, other, kept_or_scripted)
        assert {name: statuses[path] for name, path in paths.items()} == {name: EVERY_PAGE[name].get for name in paths}
    assert opened == addresses.names_in("app")


def test_pages_about_accounts_with_and_without_a_session(hosts: Hosts, person: User) -> None:
    guest = a_person(name="Grace")
    for one in hosts:
        invite_member(agency=one.tenant.agency, email=guest.email, name="", role="viewer", now=now(), by=SYSTEM)
    for here, other in each_way(hosts):
        pages = addresses.of_account(here.tenant, person)
        walk(here.browser(), pages.values(), here, other)
        walk(here.browser(person), pages.values(), here, other)
        walk(here.browser(guest), ["/account/invitations", "/console/", "/app/", "/app/choose"], here, other)


def test_the_way_of_a_new_customer(hosts: Hosts, person: User) -> None:
    for here, other in each_way(hosts):
        pages = addresses.of_sign_up(here.tenant)
        walk(here.browser(), pages.values(), here, other)
        walk(here.browser(), addresses.of_sign_up(other.tenant).values(), here, other)
        walk(here.browser(person), ["/app/workspaces/new", "/app/settings"], here, other)
        Agency.objects.filter(pk=here.tenant.agency.pk).update(max_sub_accounts=0)
        walk(here.browser(), pages.values(), here, other)


def test_the_way_through_a_connection(hosts: Hosts) -> None:
    for here, other in each_way(hosts):
        walk(here.browser(), addresses.of_connecting(here.tenant).values(), here, other)
        foreign = addresses.of_connecting(other.tenant)
        answers = [here.browser().get(foreign[name]) for name in ("landing", "session")]
        assert [answer.status_code for answer in answers] == [404, 404]
        walk(here.browser(), foreign.values(), here, other)


def test_the_ways_of_visitors_and_payers_and_calendar_programs(hosts: Hosts) -> None:
    # Nobody has chosen a time for the move or pays a deposit, the code was used, and some addresses only take forms.
    others = {"move": 404, "deposit": 404, "code": 410, "start": 405, "stripe": 405}
    for of_kind in (addresses.of_booking, addresses.of_paying, addresses.of_calendar):
        made = {one.host: of_kind(one.tenant) for one in hosts}
        for here, other in each_way(hosts):
            pages, foreign = made[here.host], made[other.host]
            statuses = walk(here.browser(), pages.values(), here, other)
            assert {name: statuses[path] for name, path in pages.items()} == {n: others.get(n, 200) for n in pages}
            elsewhere = walk(here.browser(), foreign.values(), here, other)
            assert set(elsewhere.values()) <= {404, 405}


def test_files_documents_and_addresses_that_lead_nowhere(hosts: Hosts) -> None:
    for here, other in each_way(hosts):
        walk(here.browser(), [*addresses.OTHERS, *addresses.of_files(here.tenant)], here, other)
        found = []
        for path in addresses.DOCUMENTS:
            page = text_of(here.browser().get(path))
            found += [f"{path}: {trace}" for trace in traces_in(page, other)]
            assert path.endswith(".json") or here.tenant.agency.name in page or "<title>" not in page
        assert not found


def test_both_surfaces_of_the_api(hosts: Hosts) -> None:
    for here, other in each_way(hosts):
        ids, found = ids_of(here.tenant), []
        for route, cases in ROUTES.items():
            if "GET" in cases:
                path = address(route, ids)
                answer = api_of(route, here.tenant).get(path, host=here.host)
                assert answer.status_code == 200, path
                found += [f"{path}: {trace}" for trace in traces_in(text_of(answer), other)]
        assert not found, "\n".join(found)


def too_many_tries(here: HostedAgency, person: User) -> Any:
    browser, wrong = here.browser(), {"email": person.email, "password": "wrong"}
    for _ in range(10):
        browser.post("/account/sign-in", wrong)
    return browser.post("/account/sign-in", wrong)


def forged(here: HostedAgency, person: User) -> Any:
    return Client(enforce_csrf_checks=True, HTTP_HOST=here.host).post("/account/sign-in", {"email": person.email})


REFUSALS: dict[int, Callable[[HostedAgency, User], Any]] = {
    400: lambda here, person: here.browser(person).post("/console/plans/new", {f"f{one}": "" for one in range(1_001)}),
    403: forged,
    404: lambda here, person: here.browser(person).get("/console/nothing-here"),
    405: lambda here, person: here.browser(person).post("/console/plans"),
    410: lambda here, _: here.browser().get("/account/invitation/unknown"),
    422: lambda here, _: here.browser().post("/account/sign-in", {}),
    429: too_many_tries,
}


def test_every_kind_of_refusal(hosts: Hosts, person: User) -> None:
    here, other = hosts
    for status, refusal in REFUSALS.items():
        answer = refusal(here, person)
        assert answer.status_code == status
        assert wrong_with(answer, str(status), here, other) == []
        assert here.tenant.agency.name in text_of(answer)


# In a transaction that has failed every statement does: whatever such a page shows, it asks the database nothing.
FAULTS = {
    500: "ALTER TABLE agency_plan RENAME TO plan_that_is_gone",
    503: """
        CREATE FUNCTION is_cancelled() RETURNS boolean LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'cancelled' USING ERRCODE = 'query_canceled'; END $$;
        ALTER TABLE agency_plan RENAME TO plan_that_is_gone;
        CREATE VIEW agency_plan AS SELECT * FROM plan_that_is_gone WHERE is_cancelled();
    """,
}


@pytest.mark.parametrize("status", FAULTS)
def test_a_fault_of_ours_is_in_the_look_that_this_process_knows(status: int, hosts: Hosts, person: User) -> None:
    here, other = hosts
    browser = here.browser(person)
    browser.raise_request_exception = False
    branding._remembered.clear()
    for is_known in (False, True):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(FAULTS[status])
            answer = browser.get("/console/plans")
            transaction.set_rollback(True)
        assert answer.status_code == status
        assert traces_in(text_of(answer), other) == []
        assert (here.tenant.agency.name in text_of(answer)) is is_known
        assert browser.get("/account/profile").status_code == 200
