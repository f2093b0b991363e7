"""Every page about packs against everybody who might open it. A page that is missing here fails the tests."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

import pytest
from django.urls import get_resolver, reverse

from agency.actors import SYSTEM
from packs.models import Pack
from packs.services import add_library_entry, create_pack
from tests import furnished
from tests.agency.console.browsers import at_the_console
from tests.packs.client import an_automation
from tests.packs.small_library import BOOKING
from tests.page_walk import Ids, ids_of_both, malformed, statuses, unlike_unknown_ids
from tests.tenants import Tenant

a, b = furnished.a, furnished.b

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
ALL = {"owner", "admin", "viewer"}
CHANGERS = {"owner", "admin"}
NOBODY: set[str] = set()
MakesIds = Callable[[Tenant], list[UUID]]


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
class PageAccess:
    """Who may look at a page and who may post to it; nobody at all means that the method is not there."""

    looks: set[str]
    posts: set[str]
    ids: MakesIds = pack


PAGES = {
    "packs": PageAccess(ALL, NOBODY, no_ids),
    "pack-new": PageAccess(CHANGERS, CHANGERS, no_ids),
    "packs-order": PageAccess(NOBODY, CHANGERS, no_ids),
    "packs-visibility": PageAccess(NOBODY, CHANGERS, no_ids),
    "pack": PageAccess(ALL, NOBODY),
    "pack-edit": PageAccess(CHANGERS, CHANGERS),
    "pack-publish": PageAccess(CHANGERS, CHANGERS),
    "pack-archive": PageAccess(CHANGERS, CHANGERS),
    "pack-draft": PageAccess(CHANGERS, CHANGERS),
    "pack-remove": PageAccess(CHANGERS, CHANGERS),
    "pack-order": PageAccess(NOBODY, CHANGERS),
    "pack-library": PageAccess(CHANGERS, NOBODY),
    "pack-add": PageAccess(NOBODY, CHANGERS),
    "pack-copy": PageAccess(CHANGERS, NOBODY),
    "pack-copy-from": PageAccess(CHANGERS, NOBODY, source),
    "pack-copy-preview": PageAccess(CHANGERS, CHANGERS, automation),
    "pack-entry": PageAccess(CHANGERS, CHANGERS, entry),
    "pack-entry-remove": PageAccess(CHANGERS, CHANGERS, entry),
    "pack-install-for": PageAccess(CHANGERS, CHANGERS, lambda tenant: [tenant.workspace.uuid]),
}
# A draft is asked nothing when it is to become one: it is led back to its page.
LED_BACK = {"pack-draft"}


def address(name: str, ids: list[UUID]) -> str:
    return reverse(f"console:{name}", args=ids)


def test_the_table_names_every_page_about_packs() -> None:
    _, resolver = get_resolver().namespace_dict["console"]
    assert {name for name in resolver.reverse_dict if isinstance(name, str) and name.startswith("pack")} == set(PAGES)


@pytest.fixture
def all_ids(a: Tenant, b: Tenant) -> tuple[Ids, Ids]:
    """What every page is about, of either agency."""
    return ids_of_both(a, b, {name: page.ids for name, page in PAGES.items()})


@pytest.fixture
def paths(all_ids: tuple[Ids, Ids]) -> dict[str, str]:
    """The address of every page."""
    return {name: address(name, ids) for name, ids in all_ids[0].items()}


def seen(name: str, role: str) -> int:
    """What looking at a page is answered with."""
    page = PAGES[name]
    if role in page.looks:
        return 302 if name in LED_BACK else 200
    return 403 if page.looks else 302


def changed(page: PageAccess, role: str) -> set[int]:
    """What posting to a page may be answered with."""
    if role == "viewer":
        return {403}
    return {302, 422} if page.posts else {405}


@pytest.mark.parametrize("role", sorted(ALL))
def test_each_role_sees_the_pages_that_are_for_it(role: str, a: Tenant, paths: dict[str, str]) -> None:
    found = statuses(at_the_console(a.agency, role), "get", paths)
    assert found == {name: seen(name, role) for name in PAGES}


@pytest.mark.parametrize("role", sorted(ALL))
def test_each_role_changes_what_it_may_and_a_viewer_nothing(role: str, a: Tenant, paths: dict[str, str]) -> None:
    found = statuses(at_the_console(a.agency, role), "post", paths)
    assert {name: status for name, status in found.items() if status not in changed(PAGES[name], role)} == {}


@pytest.mark.parametrize("position", range(3))
def test_another_agency_s_ids_read_like_ids_that_nobody_has(
    position: int, a: Tenant, b: Tenant, all_ids: tuple[Ids, Ids]
) -> None:
    """One id of a page at a time, so that each of them is asked about."""
    own, foreign = all_ids
    ids = {
        name: [*own[name][:position], one[position], *own[name][position + 1 :]]
        for name, one in foreign.items()
        if position < len(one)
    }
    assert ids
    found = unlike_unknown_ids(at_the_console(a.agency, "owner"), ids, address, b.mark, position=position)
    assert found == []


def test_a_malformed_id_is_not_found(a: Tenant, all_ids: tuple[Ids, Ids]) -> None:
    own, foreign = all_ids
    paths = malformed({name: own[name] for name in foreign}, address)
    for method in ("get", "post"):
        found = statuses(at_the_console(a.agency, "owner"), method, paths)
        assert {name: status for name, status in found.items() if status not in {404, 405}} == {}
