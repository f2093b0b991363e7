"""Every page about packs against everybody who might open it. A page that is missing here fails the tests."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest
from django.urls import get_resolver, reverse

from agency.actors import SYSTEM
from packs.models import Pack
from packs.services import add_library_entry, create_pack
from tests import furnished
from tests.agency.console.browsers import a_browser, at_the_console
from tests.packs.client import an_automation
from tests.packs.small_library import BOOKING
from tests.tenants import Tenant

a, b = furnished.a, furnished.b

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
class PageAccess:
    """Who may look at a page and who may post to it; nobody at all means that the method is not there."""

    looks: set[str]
    posts: set[str]
    ids: Ids = pack


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
every_page = pytest.mark.parametrize("name", PAGES)
every_role = pytest.mark.parametrize("role", sorted(ALL))
pages_with_ids = pytest.mark.parametrize("name", [name for name, page in PAGES.items() if page.ids is not no_ids])


def address(name: str, ids: list[UUID]) -> str:
    return reverse(f"console:{name}", args=ids)


def test_the_table_names_every_page_about_packs() -> None:
    _, resolver = get_resolver().namespace_dict["console"]
    assert {name for name in resolver.reverse_dict if isinstance(name, str) and name.startswith("pack")} == set(PAGES)


@every_page
def test_whoever_has_not_signed_in_is_led_to_the_sign_in_page(name: str, a: Tenant) -> None:
    path = address(name, PAGES[name].ids(a))
    for answer in (a_browser().get(path), a_browser().post(path)):
        assert answer.status_code == 302
        assert answer["Location"].startswith("/account/sign-in?next=/console/")


@every_role
@every_page
def test_each_role_sees_the_pages_that_are_for_it(name: str, role: str, a: Tenant) -> None:
    page = PAGES[name]
    answer = at_the_console(a.agency, role).get(address(name, page.ids(a)))
    if role in page.looks:
        assert answer.status_code == (302 if name in LED_BACK else 200)
    else:
        assert answer.status_code == (403 if page.looks else 302)


@every_role
@every_page
def test_each_role_changes_what_it_may_and_a_viewer_nothing(name: str, role: str, a: Tenant) -> None:
    page = PAGES[name]
    answer = at_the_console(a.agency, role).post(address(name, page.ids(a)))
    if role == "viewer":
        assert answer.status_code == 403
    elif page.posts:
        assert answer.status_code in {302, 422}
    else:
        assert answer.status_code == 405


@pages_with_ids
def test_another_agency_s_ids_read_like_ids_that_nobody_has(name: str, a: Tenant, b: Tenant) -> None:
    page, browser = PAGES[name], at_the_console(a.agency, "owner")
    foreign = page.ids(b)
    own = page.ids(a)
    for position in range(len(foreign)):
        # One id at a time, so that each of them is asked about.
        first = [*own[:position], foreign[position], *own[position + 1 :]]
        second = [*own[:position], uuid4(), *own[position + 1 :]]
        for method in (browser.get, browser.post):
            answers = [method(address(name, ids), headers={"X-Request-Id": "same"}) for ids in (first, second)]
            if answers[0].status_code == (302 if method == browser.get else 405):
                continue
            assert [answer.status_code for answer in answers] == [404, 404]
            assert answers[0].content == answers[1].content
            assert b.mark.encode() not in answers[0].content


@pages_with_ids
def test_a_malformed_id_is_not_found(name: str, a: Tenant) -> None:
    page, browser = PAGES[name], at_the_console(a.agency, "owner")
    ids = page.ids(a)
    path = address(name, ids).replace(str(ids[0]), "%00x")
    assert {browser.get(path).status_code, browser.post(path).status_code} <= {404, 405}
