"""Every page of the admin wants a permission: staff who have none see the index and their own account."""

from collections.abc import Callable, Iterator

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse

from agency.models import Agency, User
from tests.page_walk import answers

pytestmark = pytest.mark.django_db
# For everybody who has signed in: the index, the own sign-in and password, the admin's scripts, and the guides.
OPEN = {"index", "login", "logout", "password_change", "password_change_done", "jsi18n", "autocomplete", "view_on_site"}
OPEN |= {"agency_agency_help", "agency_agency_help_guide"}
ARGUMENTS = {"object_id": "1", "pk": 1, "app_label": "agency", "content_type_id": 1, "url": "x"}


def patterns(entries: list[URLPattern | URLResolver], prefix: str = "") -> Iterator[URLPattern]:
    for entry in entries:
        if isinstance(entry, URLResolver):
            yield from patterns(entry.url_patterns)
        elif entry.name:
            yield entry


PAGES = [entry for entry in patterns(admin.site.get_urls()) if entry.name not in OPEN]


@pytest.fixture
def newcomer(person: Callable[..., User], sign_in: Callable[[User], Client]) -> Client:
    return sign_in(person(is_staff=True))


def test_staff_without_a_permission_open_no_page(newcomer: Client, agency: Agency) -> None:
    assert len(PAGES) > 60
    addresses = {address: address for address in map(address_of, PAGES)}
    for method in ("get", "post"):
        for address, answer in answers(newcomer, method, addresses):
            refused = answer.status_code in {403, 404, 405} or answer.get("Location") == "/admin/"
            assert refused, (method, address, answer.status_code, answer.get("Location"))


def address_of(entry: URLPattern) -> str:
    names = entry.pattern.converters or ({"app_label": None} if entry.name == "app_list" else {})
    return reverse(f"admin:{entry.name}", kwargs={name: ARGUMENTS[name] for name in names})


def test_the_switches_want_their_own(person: Callable[..., User], sign_in: Callable[[User], Client]) -> None:
    colleague = person(is_staff=True)
    browser = sign_in(colleague)
    assert browser.get("/admin/agency/switch/").status_code == 403
    colleague.user_permissions.set(Permission.objects.filter(codename="view_switch"))
    assert browser.get("/admin/agency/switch/").status_code == 200
    assert browser.post("/admin/agency/switch/agency_api/change/", {"reason": "x"}).status_code == 403
