"""Every page about webhooks against everybody who might open it. A page that is missing here fails the tests."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest
from django.urls import get_resolver, reverse
from django.utils.timezone import now

from agency.tenants import Tenant as OwnedBy
from tests import furnished
from tests.agency.console.browsers import a_browser, at_the_console
from tests.tenants import Tenant
from tests.webhooks.factories import a_failed_delivery, an_endpoint
from webhooks.pages.deliveries import sign_redelivery
from webhooks.services import Replayed

a, b = furnished.a, furnished.b

pytestmark = pytest.mark.django_db
ALL = {"owner", "admin", "viewer"}
CHANGERS = {"owner", "admin"}
NOBODY: set[str] = set()
Id = Callable[[Tenant], UUID | str]


def endpoint(tenant: Tenant) -> UUID:
    return an_endpoint(tenant).uuid


def delivery(tenant: Tenant) -> UUID:
    return a_failed_delivery(tenant).uuid


def redelivery(tenant: Tenant) -> str:
    return sign_redelivery(OwnedBy(tenant.agency.pk), Replayed(1, 0, 1), now())


@dataclass(frozen=True)
class PageAccess:
    """Who may look at a page and who may post to it; nobody at all means that the method is not there."""

    looks: set[str]
    posts: set[str]
    id: Id | None = None

    def address(self, name: str, tenant: Tenant) -> str:
        return reverse(f"console:{name}", args=[self.id(tenant)] if self.id else [])


PAGES = {
    "webhooks": PageAccess(ALL, NOBODY),
    "webhook-new": PageAccess(CHANGERS, CHANGERS),
    "webhook-redeliver-failed": PageAccess(CHANGERS, CHANGERS),
    "webhook": PageAccess(ALL, NOBODY, endpoint),
    "webhook-edit": PageAccess(CHANGERS, CHANGERS, endpoint),
    "webhook-rotate": PageAccess(CHANGERS, CHANGERS, endpoint),
    "webhook-remove": PageAccess(CHANGERS, CHANGERS, endpoint),
    "webhook-test": PageAccess(NOBODY, CHANGERS, endpoint),
    "webhook-delivery": PageAccess(ALL, NOBODY, delivery),
    "webhook-redelivery": PageAccess(ALL, NOBODY, redelivery),
    "webhook-redeliver": PageAccess(NOBODY, CHANGERS, delivery),
}
every_page = pytest.mark.parametrize("name", PAGES)
every_role = pytest.mark.parametrize("role", sorted(ALL))


def test_the_table_names_every_page_about_webhooks() -> None:
    _, resolver = get_resolver().namespace_dict["console"]
    names = {name for name in resolver.reverse_dict if isinstance(name, str)}
    assert {name for name in names if name.startswith("webhook")} == PAGES.keys()


@every_page
def test_whoever_has_not_signed_in_is_led_to_the_sign_in_page(name: str, a: Tenant) -> None:
    path = PAGES[name].address(name, a)
    for answer in (a_browser().get(path), a_browser().post(path)):
        assert answer.status_code == 302
        assert answer["Location"].startswith("/account/sign-in?next=/console/")


@every_role
@every_page
def test_each_role_sees_the_pages_that_are_for_it(name: str, role: str, a: Tenant) -> None:
    access = PAGES[name]
    answer = at_the_console(a.agency, role).get(access.address(name, a))
    expected = 200 if role in access.looks else 403 if access.looks else 302
    assert answer.status_code == expected


@every_role
@every_page
def test_each_role_changes_what_it_may_and_a_viewer_nothing(name: str, role: str, a: Tenant) -> None:
    access = PAGES[name]
    answer = at_the_console(a.agency, role).post(access.address(name, a))
    if role == "viewer":
        assert answer.status_code == 403
    elif access.posts:
        assert answer.status_code in {200, 302, 422}
    else:
        assert answer.status_code == 405


@pytest.mark.parametrize("name", [name for name, access in PAGES.items() if access.id])
def test_another_agency_s_ids_read_like_ids_that_nobody_has(name: str, a: Tenant, b: Tenant) -> None:
    access, browser = PAGES[name], at_the_console(a.agency, "owner")
    foreign = access.address(name, b)
    unknown = reverse(f"console:{name}", args=[uuid4()])
    for method in (browser.get, browser.post):
        first, second = (method(path, headers={"X-Request-Id": "same"}) for path in (foreign, unknown))
        if first.status_code == (302 if method == browser.get else 405):
            continue
        assert (first.status_code, second.status_code) == (404, 404)
        assert first.content == second.content
