"""The pages about A.I. accounts against everybody who might open them. A page that is missing here fails the tests."""

import pytest
from django.urls import get_resolver, reverse

from tests import furnished
from tests.agency.console.browsers import at_the_console
from tests.page_walk import Ids, ids_of_both, statuses, unlike_unknown_ids
from tests.tenants import Tenant
from tests.webhooks.console.test_access import ALL, CHANGERS, NOBODY, PageAccess, changed, seen
from tests.workspaces.automations.calls.planned import an_account

a, b = furnished.a, furnished.b

pytestmark = pytest.mark.django_db
NOWHERE = "https://192.0.2.1"


def account(tenant: Tenant) -> list[object]:
    return [an_account(tenant, NOWHERE, name=f"Account {tenant.mark}", is_default=False).uuid]


PAGES = {
    "ai-accounts": PageAccess(ALL, NOBODY),
    "ai-account-new": PageAccess(CHANGERS, CHANGERS),
    "ai-account": PageAccess(ALL, NOBODY, account),
    "ai-account-edit": PageAccess(CHANGERS, CHANGERS, account),
    "ai-budget": PageAccess(CHANGERS, CHANGERS),
    "ai-account-test": PageAccess(NOBODY, CHANGERS, account),
    "ai-account-remove": PageAccess(CHANGERS, CHANGERS, account),
}


def address(name: str, ids: list[object]) -> str:
    return reverse(f"console:{name}", args=ids)


@pytest.fixture
def all_ids(a: Tenant, b: Tenant) -> tuple[Ids, Ids]:
    """What every page is about, of either agency."""
    return ids_of_both(a, b, {name: access.ids for name, access in PAGES.items()})


@pytest.fixture
def paths(all_ids: tuple[Ids, Ids]) -> dict[str, str]:
    """The address of every page."""
    return {name: address(name, ids) for name, ids in all_ids[0].items()}


def test_the_table_names_every_page_about_accounts() -> None:
    _, resolver = get_resolver().namespace_dict["console"]
    names = {name for name in resolver.reverse_dict if isinstance(name, str)}
    assert {name for name in names if name.startswith("ai-")} == PAGES.keys()


@pytest.mark.parametrize("role", sorted(ALL))
def test_each_role_sees_and_changes_what_it_may(role: str, a: Tenant, paths: dict[str, str]) -> None:
    browser = at_the_console(a.agency, role)
    assert statuses(browser, "get", paths) == {name: seen(access, role) for name, access in PAGES.items()}
    found = statuses(browser, "post", paths)
    assert {name: status for name, status in found.items() if status not in changed(PAGES[name], role)} == {}


def test_another_agency_s_ids_read_like_ids_that_nobody_has(a: Tenant, b: Tenant, all_ids: tuple[Ids, Ids]) -> None:
    assert unlike_unknown_ids(at_the_console(a.agency, "owner"), all_ids[1], address, b.mark) == []
