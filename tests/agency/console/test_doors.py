"""Every page of the console against everybody who might open it. A page that is missing here fails the tests."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from django.urls import get_resolver, reverse
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.services import suspend_agency
from tests.agency.console.staff import a_browser, a_member, a_person, at_the_console
from tests.tenants import Tenant
from workspaces.subaccounts.services import grant_addon

pytestmark = pytest.mark.django_db
ALL = {"owner", "admin", "viewer"}
CHANGERS = {"owner", "admin"}
OWNERS = {"owner"}
NOBODY: set[str] = set()
Ids = Callable[[Tenant], list[Any]]


def no_ids(_: Tenant) -> list[Any]:
    return []


def plan(tenant: Tenant) -> list[Any]:
    return [tenant.plan.uuid]


def addon(tenant: Tenant) -> list[Any]:
    return [tenant.addon.uuid]


def key(tenant: Tenant) -> list[Any]:
    return [tenant.key.uuid]


def member(tenant: Tenant) -> list[Any]:
    return [a_member(tenant.agency, "viewer").pk]


def workspace(tenant: Tenant) -> list[Any]:
    return [tenant.workspace.uuid]


def held_addon(tenant: Tenant) -> list[Any]:
    grant_addon(workspace=tenant.workspace, addon=tenant.addon, now=now(), by=SYSTEM)
    return [tenant.workspace.uuid, tenant.addon.uuid]


@dataclass(frozen=True)
class Door:
    """Who may look at a page and who may post to it; nobody at all means that the method is not there."""

    looks: set[str]
    posts: set[str]
    ids: Ids = no_ids


DOORS = {
    "home": Door(ALL, NOBODY),
    "plans": Door(ALL, NOBODY),
    "plan-new": Door(CHANGERS, CHANGERS),
    "plan": Door(ALL, NOBODY, plan),
    "plan-edit": Door(CHANGERS, CHANGERS, plan),
    "plan-archive": Door(CHANGERS, CHANGERS, plan),
    "addons": Door(ALL, NOBODY),
    "addon-new": Door(CHANGERS, CHANGERS),
    "addon": Door(ALL, NOBODY, addon),
    "addon-edit": Door(CHANGERS, CHANGERS, addon),
    "addon-archive": Door(CHANGERS, CHANGERS, addon),
    "api-keys": Door(ALL, NOBODY),
    "api-key-new": Door(CHANGERS, CHANGERS),
    "api-key-revoke": Door(CHANGERS, CHANGERS, key),
    "brand": Door(ALL, NOBODY),
    "brand-colour": Door(CHANGERS, CHANGERS),
    "brand-logo": Door(CHANGERS, CHANGERS),
    "brand-logo-remove": Door(CHANGERS, CHANGERS),
    "team": Door(ALL, NOBODY),
    "team-invite": Door(OWNERS, OWNERS),
    "member": Door(OWNERS, OWNERS, member),
    "member-remove": Door(OWNERS, OWNERS, member),
    "activity": Door(ALL, NOBODY),
    "sub-accounts": Door(ALL, NOBODY),
    "sub-account-new": Door(CHANGERS, CHANGERS),
    "sub-account": Door(ALL, NOBODY, workspace),
    "sub-account-edit": Door(CHANGERS, CHANGERS, workspace),
    "sub-account-suspend": Door(CHANGERS, CHANGERS, workspace),
    "sub-account-restore": Door(NOBODY, CHANGERS, workspace),
    "sub-account-activity": Door(ALL, NOBODY, workspace),
    "sub-account-plan": Door(CHANGERS, CHANGERS, workspace),
    "sub-account-addons": Door(NOBODY, CHANGERS, workspace),
    "sub-account-addon-revoke": Door(CHANGERS, CHANGERS, held_addon),
}
# The way to another agency has no role and stays open where the chosen agency is closed: test_seats.py.
ELSEWHERE = {"switch"}
# Pages of higher apps have tables of their own beside them.
HIGHER = ("webhook", "pack", "channel-connect")
every_door = pytest.mark.parametrize("name", DOORS)
doors_with_ids = pytest.mark.parametrize("name", [name for name, door in DOORS.items() if door.ids is not no_ids])


def address(name: str, ids: list[Any]) -> str:
    return reverse(f"console:{name}", args=ids)


def test_the_table_names_every_page_of_the_console() -> None:
    _, resolver = get_resolver().namespace_dict["console"]
    names = {name for name in resolver.reverse_dict if isinstance(name, str)}
    assert {name for name in names if not name.startswith(HIGHER)} == DOORS.keys() | ELSEWHERE


@every_door
def test_whoever_has_not_signed_in_is_led_to_the_sign_in_page(name: str, a: Tenant) -> None:
    path = address(name, DOORS[name].ids(a))
    for answer in (a_browser().get(path), a_browser().post(path)):
        assert answer.status_code == 302
        assert answer["Location"].startswith("/account/sign-in?next=/console/")
    assert a_browser().get(path)["Location"].endswith(path)


@every_door
def test_a_person_of_no_agency_is_refused(name: str, a: Tenant) -> None:
    path = address(name, DOORS[name].ids(a))
    browser = a_browser(a_person())
    assert browser.get(path).status_code == browser.post(path).status_code == 403


@every_door
def test_a_suspended_agency_s_console_is_closed_to_its_owner(name: str, a: Tenant) -> None:
    path = address(name, DOORS[name].ids(a))
    browser = at_the_console(a.agency, "owner")
    suspend_agency(agency=a.agency, reason="", now=now(), by=SYSTEM)
    for answer in (browser.get(path), browser.post(path)):
        assert answer.status_code == 403
        assert b"is suspended" in answer.content


@pytest.mark.parametrize("role", sorted(ALL))
@every_door
def test_each_role_sees_the_pages_that_are_for_it(name: str, role: str, a: Tenant) -> None:
    door = DOORS[name]
    answer = at_the_console(a.agency, role).get(address(name, door.ids(a)))
    if role in door.looks:
        assert answer.status_code == 200
    else:
        assert answer.status_code == (403 if door.looks else 405)


@pytest.mark.parametrize("role", sorted(ALL))
@every_door
def test_each_role_changes_what_it_may_and_a_viewer_nothing(name: str, role: str, a: Tenant) -> None:
    door = DOORS[name]
    answer = at_the_console(a.agency, role).post(address(name, door.ids(a)))
    if role == "viewer" or (door.posts and role not in door.posts):
        assert answer.status_code == 403
    elif door.posts:
        assert answer.status_code in {302, 422}
    else:
        assert answer.status_code in {403, 405}


@doors_with_ids
def test_another_agency_s_ids_read_like_ids_that_nobody_has(name: str, a: Tenant, b: Tenant) -> None:
    door, browser = DOORS[name], at_the_console(a.agency, "owner")
    foreign = door.ids(b)
    unknown = [2**62 if isinstance(one, int) else uuid4() for one in foreign]
    methods: list[Any] = [browser.get, browser.post]
    for method in methods:
        answers = [method(address(name, ids), headers={"X-Request-Id": "same"}) for ids in (foreign, unknown)]
        if answers[0].status_code == 405:
            continue
        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].content == answers[1].content
        assert b.mark.encode() not in answers[0].content


@doors_with_ids
def test_a_malformed_id_is_not_found(name: str, a: Tenant) -> None:
    door, browser = DOORS[name], at_the_console(a.agency, "owner")
    ids = door.ids(a)
    path = address(name, ids).replace(str(ids[0]), "%00x" if not isinstance(ids[0], int) else "9" * 400)
    assert {browser.get(path).status_code, browser.post(path).status_code} <= {404, 405}
