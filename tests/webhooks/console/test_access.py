"""Every page about webhooks against everybody who might open it. A page that is missing here fails the tests."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.urls import get_resolver, reverse
from django.utils.timezone import now

from agency.tenants import Tenant as OwnedBy
from tests import furnished
from tests.agency.console.browsers import at_the_console
from tests.factories.webhooks import a_failed_delivery, an_endpoint
from tests.page_walk import Ids, ids_of_both, statuses, unlike_unknown_ids
from tests.tenants import Tenant
from webhooks.pages.deliveries import sign_redelivery
from webhooks.services.deliveries import ReplayResult

a, b = furnished.a, furnished.b

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
ALL = {"owner", "admin", "viewer"}
CHANGERS = {"owner", "admin"}
NOBODY: set[str] = set()
MakesIds = Callable[[Tenant], list[Any]]


def no_ids(_: Tenant) -> list[Any]:
    return []


def endpoint(tenant: Tenant) -> list[Any]:
    return [an_endpoint(tenant).uuid]


def failed_endpoint(tenant: Tenant) -> list[Any]:
    return [a_failed_delivery(tenant).endpoint.uuid]


def delivery(tenant: Tenant) -> list[Any]:
    return [a_failed_delivery(tenant).uuid]


def redelivery(tenant: Tenant) -> list[Any]:
    return [sign_redelivery(OwnedBy(tenant.agency.pk), ReplayResult(1, 0, 1), now())]


@dataclass(frozen=True)
class PageAccess:
    """Who may look at a page and who may post to it; nobody at all means that the method is not there."""

    looks: set[str]
    posts: set[str]
    ids: MakesIds = no_ids


PAGES = {
    "webhooks": PageAccess(ALL, NOBODY),
    "webhook-new": PageAccess(CHANGERS, CHANGERS),
    "webhook-redeliver-failed": PageAccess(CHANGERS, CHANGERS),
    "webhook": PageAccess(ALL, NOBODY, endpoint),
    "webhook-edit": PageAccess(CHANGERS, CHANGERS, endpoint),
    "webhook-rotate": PageAccess(CHANGERS, CHANGERS, endpoint),
    "webhook-remove": PageAccess(CHANGERS, CHANGERS, endpoint),
    "webhook-dismiss": PageAccess(CHANGERS, CHANGERS, failed_endpoint),
    "webhook-test": PageAccess(NOBODY, CHANGERS, endpoint),
    "webhook-delivery": PageAccess(ALL, NOBODY, delivery),
    "webhook-redelivery": PageAccess(ALL, NOBODY, redelivery),
    "webhook-redeliver": PageAccess(NOBODY, CHANGERS, delivery),
}


def address(name: str, ids: list[Any]) -> str:
    return reverse(f"console:{name}", args=ids)


@pytest.fixture
def all_ids(a: Tenant, b: Tenant) -> tuple[Ids, Ids]:
    """What every page is about, of either agency."""
    return ids_of_both(a, b, {name: access.ids for name, access in PAGES.items()})


@pytest.fixture
def paths(all_ids: tuple[Ids, Ids]) -> dict[str, str]:
    """The address of every page."""
    return {name: address(name, ids) for name, ids in all_ids[0].items()}


def test_the_table_names_every_page_about_webhooks() -> None:
    _, resolver = get_resolver().namespace_dict["console"]
    names = {name for name in resolver.reverse_dict if isinstance(name, str)}
    assert {name for name in names if name.startswith("webhook")} == PAGES.keys()


def seen(access: PageAccess, role: str) -> int:
    """What looking at a page is answered with."""
    return 200 if role in access.looks else 403 if access.looks else 302


def changed(access: PageAccess, role: str) -> set[int]:
    """What posting to a page may be answered with."""
    if role == "viewer":
        return {403}
    return {200, 302, 422} if access.posts else {405}


@pytest.mark.parametrize("role", sorted(ALL))
def test_each_role_sees_the_pages_that_are_for_it(role: str, a: Tenant, paths: dict[str, str]) -> None:
    found = statuses(at_the_console(a.agency, role), "get", paths)
    assert found == {name: seen(access, role) for name, access in PAGES.items()}


@pytest.mark.parametrize("role", sorted(ALL))
def test_each_role_changes_what_it_may_and_a_viewer_nothing(role: str, a: Tenant, paths: dict[str, str]) -> None:
    found = statuses(at_the_console(a.agency, role), "post", paths)
    assert {name: status for name, status in found.items() if status not in changed(PAGES[name], role)} == {}


def test_another_agency_s_ids_read_like_ids_that_nobody_has(a: Tenant, b: Tenant, all_ids: tuple[Ids, Ids]) -> None:
    assert unlike_unknown_ids(at_the_console(a.agency, "owner"), all_ids[1], address, b.mark) == []
