"""Every page about webhooks against everybody who might open it. A page that is missing here fails the tests."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest
from django.urls import get_resolver, reverse

from tests.agency.console.browsers import a_browser, at_the_console
from tests.tenants import Tenant
from tests.webhooks.console.making import a_failed_delivery, an_endpoint

pytestmark = pytest.mark.django_db
ALL = {"owner", "admin", "viewer"}
CHANGERS = {"owner", "admin"}
NOBODY: set[str] = set()
Id = Callable[[Tenant], UUID]


def endpoint(tenant: Tenant) -> UUID:
    return an_endpoint(tenant).uuid


def delivery(tenant: Tenant) -> UUID:
    return a_failed_delivery(tenant).uuid


@dataclass(frozen=True)
class Door:
    looks: set[str]
    posts: set[str]
    id: Id | None = None

    def address(self, name: str, tenant: Tenant) -> str:
        return reverse(f"console:{name}", args=[self.id(tenant)] if self.id else [])


DOORS = {
    "webhooks": Door(ALL, NOBODY),
    "webhook-new": Door(CHANGERS, CHANGERS),
    "webhook-redeliver-failed": Door(CHANGERS, CHANGERS),
    "webhook": Door(ALL, NOBODY, endpoint),
    "webhook-edit": Door(CHANGERS, CHANGERS, endpoint),
    "webhook-rotate": Door(CHANGERS, CHANGERS, endpoint),
    "webhook-remove": Door(CHANGERS, CHANGERS, endpoint),
    "webhook-test": Door(NOBODY, CHANGERS, endpoint),
    "webhook-delivery": Door(ALL, NOBODY, delivery),
    "webhook-redeliver": Door(NOBODY, CHANGERS, delivery),
}
every_door = pytest.mark.parametrize("name", DOORS)
every_role = pytest.mark.parametrize("role", sorted(ALL))


def test_the_table_names_every_page_about_webhooks() -> None:
    _, resolver = get_resolver().namespace_dict["console"]
    assert {name for name in resolver.reverse_dict if isinstance(name, str) and name.startswith("webhook")} == set(
        DOORS
    )


@every_door
def test_whoever_has_not_signed_in_is_led_to_the_sign_in_page(name: str, a: Tenant) -> None:
    path = DOORS[name].address(name, a)
    for answer in (a_browser().get(path), a_browser().post(path)):
        assert answer.status_code == 302
        assert answer["Location"].startswith("/account/sign-in?next=/console/")


@every_role
@every_door
def test_each_role_sees_the_pages_that_are_for_it(name: str, role: str, a: Tenant) -> None:
    door = DOORS[name]
    answer = at_the_console(a.agency, role).get(door.address(name, a))
    expected = 200 if role in door.looks else 403 if door.looks else 405
    assert answer.status_code == expected


@every_role
@every_door
def test_each_role_changes_what_it_may_and_a_viewer_nothing(name: str, role: str, a: Tenant) -> None:
    door = DOORS[name]
    answer = at_the_console(a.agency, role).post(door.address(name, a))
    if role == "viewer":
        assert answer.status_code == 403
    elif door.posts:
        assert answer.status_code in {302, 422}
    else:
        assert answer.status_code == 405


@pytest.mark.parametrize("name", [name for name, door in DOORS.items() if door.id])
def test_another_agency_s_ids_read_like_ids_that_nobody_has(name: str, a: Tenant, b: Tenant) -> None:
    door, browser = DOORS[name], at_the_console(a.agency, "owner")
    foreign = door.address(name, b)
    unknown = reverse(f"console:{name}", args=[uuid4()])
    for method in (browser.get, browser.post):
        first, second = (method(path, headers={"X-Request-Id": "same"}) for path in (foreign, unknown))
        if first.status_code == 405:
            continue
        assert (first.status_code, second.status_code) == (404, 404)
        assert first.content == second.content
