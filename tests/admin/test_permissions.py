"""Every page of the admin wants a permission: staff who have none see the index and their own account."""

from collections.abc import Callable, Hashable, Iterator

import pytest
from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse

from agency.admin.base import SupportAdmin, WritableAdmin
from agency.models import Agency, User
from tests.page_walk import answers, is_full_size

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
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


# The views that pages have from Django and from the base classes of all our pages.
OF_BASES = {
    vars(base)[name]
    for base in (ModelAdmin, SupportAdmin, WritableAdmin)
    for name in ("changelist_view", "add_view", "change_view", "delete_view", "history_view")
    if name in vars(base)
}
PERMISSIONS = [f"has_{name}_permission" for name in ("view", "add", "change", "delete", "module", "view_or_change")]
PAGES = [entry for entry in patterns(admin.site.get_urls()) if entry.name not in OPEN]


@pytest.fixture
def newcomer(person: Callable[..., User], sign_in: Callable[[User], Client]) -> Client:
    return sign_in(person(is_staff=True))


def test_staff_without_a_permission_open_no_page(newcomer: Client, agency: Agency) -> None:
    """Of the pages that one view of a base class answers with the same permissions, one is tried."""
    assert len(PAGES) > 60
    addresses = {address: address for address in map(address_of, one_of_each_check())}
    for method in ("get", "post"):
        for address, answer in answers(newcomer, method, addresses):
            refused = answer.status_code in {403, 404, 405} or answer.get("Location") == "/admin/"
            assert refused, (method, address, answer.status_code, answer.get("Location"))


def one_of_each_check() -> list[URLPattern]:
    """Give one page of all that a view of a base class answers for the same permissions, and each other page."""
    alike: dict[Hashable, URLPattern] = {}
    for entry in PAGES:
        bound = getattr(entry.callback, "__wrapped__", None)
        view, page = (getattr(bound, name, None) for name in ("__func__", "__self__"))
        permissions = tuple(getattr(type(page), name, None) for name in PERMISSIONS)
        alike[(view, permissions) if view in OF_BASES and not is_full_size() else entry] = entry
    return [*alike.values()]


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
