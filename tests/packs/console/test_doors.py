"""Every page about packs against everybody who might open it. A page that is missing here fails the tests."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest
from django.urls import get_resolver, reverse

from agency.actors import SYSTEM
from packs.models import Pack
from packs.services import add_library_entry, create_pack
from tests.agency.console.browsers import a_browser, at_the_console
from tests.packs.at_hand import an_automation
from tests.packs.shelf import BOOKING
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db
ALL = {"owner", "admin", "viewer"}
CHANGERS = {"owner", "admin"}
NOBODY: set[str] = set()
Ids = Callable[[Tenant], list[UUID]]


def no_ids(_: Tenant) -> list[UUID]:
    return []


def a_pack(tenant: Tenant) -> Pack:
    pack = create_pack(agency=tenant.agency, name=f"Pack {tenant.mark}", by=SYSTEM)
    add_library_entry(pack=pack, template_id=BOOKING, by=SYSTEM)
    return pack


def pack(tenant: Tenant) -> list[UUID]:
    return [a_pack(tenant).uuid]


def entry(tenant: Tenant) -> list[UUID]:
    made = a_pack(tenant)
    return [made.uuid, made.entries.get().uuid]


def source(tenant: Tenant) -> list[UUID]:
    return [a_pack(tenant).uuid, tenant.workspace.uuid]


def automation(tenant: Tenant) -> list[UUID]:
    made = an_automation(tenant.workspace, name=f"Automation {tenant.mark}")
    return [*source(tenant), made.uuid]


@dataclass(frozen=True)
class Door:
    """Who may look at a page and who may post to it; nobody at all means that the method is not there."""

    looks: set[str]
    posts: set[str]
    ids: Ids = pack


DOORS = {
    "packs": Door(ALL, NOBODY, no_ids),
    "pack-new": Door(CHANGERS, CHANGERS, no_ids),
    "packs-order": Door(NOBODY, CHANGERS, no_ids),
    "packs-visibility": Door(NOBODY, CHANGERS, no_ids),
    "pack": Door(ALL, NOBODY),
    "pack-edit": Door(CHANGERS, CHANGERS),
    "pack-publish": Door(CHANGERS, CHANGERS),
    "pack-archive": Door(CHANGERS, CHANGERS),
    "pack-draft": Door(CHANGERS, CHANGERS),
    "pack-remove": Door(CHANGERS, CHANGERS),
    "pack-order": Door(NOBODY, CHANGERS),
    "pack-library": Door(CHANGERS, NOBODY),
    "pack-add": Door(NOBODY, CHANGERS),
    "pack-copy": Door(CHANGERS, NOBODY),
    "pack-copy-from": Door(CHANGERS, NOBODY, source),
    "pack-copy-preview": Door(CHANGERS, CHANGERS, automation),
    "pack-entry": Door(CHANGERS, CHANGERS, entry),
    "pack-entry-remove": Door(CHANGERS, CHANGERS, entry),
}
# A draft is asked nothing when it is to become one: it is led back to its page.
LED_BACK = {"pack-draft"}
every_door = pytest.mark.parametrize("name", DOORS)
every_role = pytest.mark.parametrize("role", sorted(ALL))
doors_with_ids = pytest.mark.parametrize("name", [name for name, door in DOORS.items() if door.ids is not no_ids])


def address(name: str, ids: list[UUID]) -> str:
    return reverse(f"console:{name}", args=ids)


def test_the_table_names_every_page_about_packs() -> None:
    _, resolver = get_resolver().namespace_dict["console"]
    assert {name for name in resolver.reverse_dict if isinstance(name, str) and name.startswith("pack")} == set(DOORS)


@every_door
def test_whoever_has_not_signed_in_is_led_to_the_sign_in_page(name: str, a: Tenant) -> None:
    path = address(name, DOORS[name].ids(a))
    for answer in (a_browser().get(path), a_browser().post(path)):
        assert answer.status_code == 302
        assert answer["Location"].startswith("/account/sign-in?next=/console/")


@every_role
@every_door
def test_each_role_sees_the_pages_that_are_for_it(name: str, role: str, a: Tenant) -> None:
    door = DOORS[name]
    answer = at_the_console(a.agency, role).get(address(name, door.ids(a)))
    if role in door.looks:
        assert answer.status_code == (302 if name in LED_BACK else 200)
    else:
        assert answer.status_code == (403 if door.looks else 405)


@every_role
@every_door
def test_each_role_changes_what_it_may_and_a_viewer_nothing(name: str, role: str, a: Tenant) -> None:
    door = DOORS[name]
    answer = at_the_console(a.agency, role).post(address(name, door.ids(a)))
    if role == "viewer":
        assert answer.status_code == 403
    elif door.posts:
        assert answer.status_code in {302, 422}
    else:
        assert answer.status_code == 405


@doors_with_ids
def test_another_agency_s_ids_read_like_ids_that_nobody_has(name: str, a: Tenant, b: Tenant) -> None:
    door, browser = DOORS[name], at_the_console(a.agency, "owner")
    foreign = door.ids(b)
    own = door.ids(a)
    for place in range(len(foreign)):
        # One id at a time, so that each of them is asked about.
        first = [*own[:place], foreign[place], *own[place + 1 :]]
        second = [*own[:place], uuid4(), *own[place + 1 :]]
        for method in (browser.get, browser.post):
            answers = [method(address(name, ids), headers={"X-Request-Id": "same"}) for ids in (first, second)]
            if answers[0].status_code == 405:
                continue
            assert [answer.status_code for answer in answers] == [404, 404]
            assert answers[0].content == answers[1].content
            assert b.mark.encode() not in answers[0].content


@doors_with_ids
def test_a_malformed_id_is_not_found(name: str, a: Tenant) -> None:
    door, browser = DOORS[name], at_the_console(a.agency, "owner")
    ids = door.ids(a)
    path = address(name, ids).replace(str(ids[0]), "%00x")
    assert {browser.get(path).status_code, browser.post(path).status_code} <= {404, 405}
