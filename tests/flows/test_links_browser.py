"""In a real browser: links among words are told by more than their colour, and the support admin fits a phone."""

from collections.abc import Callable, Iterator

import pytest
from django.conf import settings as project
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from agency.models import User
from tests.agency.console.browsers import a_member
from tests.factories import DomainFactory, WorkspaceFactory
from tests.tenants import Tenant

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
As = Callable[[User], Page]
PASSWORD = "correct-horse-battery"
TOO_WIDE = """() => {
    const width = document.documentElement.clientWidth;
    const wide = [...document.querySelectorAll("#container *")].filter(one => {
        const box = one.getBoundingClientRect();
        const scrolls = up => up && (/auto|scroll/.test(getComputedStyle(up).overflowX) || scrolls(up.parentElement));
        return box.width && box.right > width + 1 && !scrolls(one.parentElement);
    });
    return [document.documentElement.scrollWidth - width, wide.slice(0, 5).map(one => one.outerHTML.slice(0, 120))];
}"""
UNMARKED = """() => [...document.querySelectorAll("main :is(p, li > span, td) a:not(.button)")].filter(link => {
    const words = [...link.parentElement.childNodes].filter(one => !one.contains(link));
    const isAmongWords = words.some(one => one.textContent.trim());
    return isAmongWords && !getComputedStyle(link).textDecorationLine.includes("underline");
}).map(link => link.outerHTML)"""


@pytest.fixture
def page_of(browser: Browser, live_server: LiveServer) -> Iterator[As]:
    contexts: list[BrowserContext] = []

    def open_one(user: User) -> Page:
        client = Client()
        if user.is_staff:
            client.post("/admin/login/", {"username": user.email, "password": PASSWORD, "next": "/admin/"})
        else:
            client.force_login(user)
        context = browser.new_context(base_url=live_server.url)
        contexts.append(context)
        name = project.SESSION_COOKIE_NAME
        context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": live_server.url}])
        return context.new_page()

    yield open_one
    for context in contexts:
        context.close()


def support(a: Tenant) -> User:
    return User.objects.create_user("support@example.com", PASSWORD, is_staff=True, is_superuser=True)


def test_links_among_the_words_of_the_consoles_home_are_underlined(a: Tenant, page_of: As) -> None:
    assert a.workspace.pk
    page = page_of(a_member(a.agency, "owner").user)
    page.goto("/console/")
    expect(page.locator(".latest a").first).to_be_visible()
    assert page.evaluate(UNMARKED) == []


def test_links_among_the_words_of_the_admins_overview_are_underlined(a: Tenant, page_of: As) -> None:
    page = page_of(support(a))
    page.goto(f"/admin/agency/agency/{a.agency.pk}/overview/")
    expect(page.get_by_role("link", name="Search all agencies")).to_be_visible()
    assert page.evaluate(UNMARKED) == []


def test_the_admin_fits_a_phone(a: Tenant, page_of: As) -> None:
    WorkspaceFactory.create(agency=a.agency, name="W" * 80)
    DomainFactory.create(agency=a.agency, host=f"{'long' * 15}.{'name' * 15}.example.com")
    page = page_of(support(a))
    page.set_viewport_size({"width": 360, "height": 740})
    found = {}
    for address in (
        "/admin/",
        "/admin/agency/agency/",
        f"/admin/agency/agency/{a.agency.pk}/overview/",
        f"/admin/agency/agency/{a.agency.pk}/change/",
        "/admin/agency/agency/find/?q=a",
        "/admin/subaccounts/workspace/",
    ):
        page.goto(address)
        expect(page.get_by_role("button", name="Log out")).to_be_attached()
        found[address] = page.evaluate(TOO_WIDE)
    assert {address: wide for address, wide in found.items() if wide != [0, []]} == {}
