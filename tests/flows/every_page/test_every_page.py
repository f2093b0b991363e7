"""Each page is loaded once, then seen at every width from a phone's to a desk's, in both themes, and by axe."""

import re
from collections.abc import Callable, Iterable, Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as project
from django.contrib.auth.tokens import default_token_generator
from django.test import Client
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from playwright.sync_api import Browser, Page
from pytest_django.live_server_helper import LiveServer

from agency.models import PendingSignUp, User
from agency.services.mail.sign_up import SIGN_UP_LINKS
from tests.agency.console.browsers import PASSWORD, a_person
from tests.agency.two_factor import an_app
from tests.flows.every_page.checks import OPTIONS, SOME_WIDTHS, examine, examine_frame
from tests.flows.every_page.extremes import ENDLESS, ExtremeTenant
from tests.flows.every_page.routes import (
    ANONYMOUS,
    CONNECT,
    NOT_LOOKED_AT,
    SIGN_UP,
    names_in,
    pages_of,
)
from tests.packs.small_library import write_library

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Open = Callable[[User | None], Page]
OF_TWO_FACTOR = ("account:security", "account:recovery-codes", "account:two-factor-off")
WITH_ERRORS = ".summary, .field:has([aria-invalid=true])"
# The form of a page, if there is anything to be filled in.
FORM = "main form[novalidate]:has(input:not([type=hidden], [type=checkbox], [type=radio]), textarea)"
SEND_EMPTY = """form => {
    for (const field of form.querySelectorAll("input:not([type=hidden], [type=file]), textarea")) {
        if (["checkbox", "radio"].includes(field.type)) field.checked = false;
        else field.value = "";
    }
    form.requestSubmit();
}"""


@pytest.fixture(autouse=True)
def _installation(settings: Any, tmp_path: Path) -> None:
    settings.PACK_LIBRARY = write_library(tmp_path / "library")
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]


@pytest.fixture
def a(transactional_db: None, _installation: None) -> ExtremeTenant:
    return ExtremeTenant()


@pytest.fixture
def open_page(browser: Browser, live_server: LiveServer) -> Iterator[Open]:
    """Open the page in which everything is looked at, as somebody who has signed in or as nobody."""
    context = browser.new_context(base_url=live_server.url, **OPTIONS)
    page = context.new_page()

    def open_as(person: User | None) -> Page:
        context.clear_cookies()
        if person:
            client = Client()
            client.force_login(person)
            session = client.cookies[project.SESSION_COOKIE_NAME].value
            context.add_cookies([{"name": project.SESSION_COOKIE_NAME, "value": session, "url": live_server.url}])
        return page

    yield open_as
    context.close()


def visit(page: Page, addresses: Iterable[str]) -> list[str]:
    """Examine every page, then each form with its errors; give what is wrong."""
    found, forms = [], []
    for address in addresses:
        page.goto(address)
        came = re.sub(r"[?&]form=[^&]*$", "", page.url)  # what makes something is given a number for its one use
        wrong = examine(page, coloured="main") if came.endswith(address) else [f"it led to {page.url}"]
        found += [f"{address}: {one}" for one in wrong]
        if page.locator(FORM).count():
            forms.append(address)
    for address in forms:
        page.goto(address)
        found += [f"{address}, with errors: {one}" for one in examine_errors(page)]
    return found


def examine_errors(page: Page) -> list[str]:
    """Send the page's form with nothing filled in; some are content with that."""
    with page.expect_navigation():
        page.locator(FORM).first.evaluate(SEND_EMPTY)
    if not page.locator(".summary").count():
        return []
    return examine(page, "main", coloured=WITH_ERRORS, widths=SOME_WIDTHS)


def require_none(found: list[str]) -> None:
    assert not found, "\n".join(found)


def test_the_tables_know_every_route() -> None:
    assert {name for namespace in ("console", "app", "account") for name in names_in(namespace)} >= NOT_LOOKED_AT
    assert names_in("connect") == CONNECT
    assert names_in("sign-up") == SIGN_UP


@pytest.mark.parametrize("half", [0, 1])
def test_pages_of_the_console(open_page: Open, a: ExtremeTenant, half: int) -> None:
    require_none(visit(open_page(a.owner), pages_of("console", a)[half::2]))


def test_the_frame_of_the_console(open_page: Open, a: ExtremeTenant) -> None:
    page = open_page(a.owner)
    page.goto("/console/")
    require_none(examine_frame(page))
    page.goto(reverse("console:webhooks"))
    box = page.locator(".sparkline").first.bounding_box()
    assert box
    assert (box["width"], box["height"]) == (120, 24)
    page.goto(reverse("console:sub-account", args=[a.customer.uuid]))
    page.get_by_role("button", name="Open as customer").click()
    page.goto(reverse("app:people"))
    require_none(examine(page, ".agency-banner"))


def test_pages_of_the_dashboard(open_page: Open, a: ExtremeTenant) -> None:
    page = open_page(a.customer.owner)
    page.goto("/app/choose")
    page.get_by_role("button", name=ENDLESS).first.click()
    require_none(visit(page, pages_of("app", a)))
    page.goto("/app/automations")
    require_none(examine_frame(page))


def test_pages_about_accounts(open_page: Open, a: ExtremeTenant) -> None:
    page = open_page(None)
    require_none(visit(page, [*(reverse(name) for name in ANONYMOUS), "/account/nothing-here"]))
    page.goto(f"/account/set-password/{urlsafe_base64_encode(force_bytes(a.owner.pk))}/none")
    require_none(examine(page))
    token = default_token_generator.make_token(a.owner)
    page.goto(f"/account/set-password/{urlsafe_base64_encode(force_bytes(a.owner.pk))}/{token}")
    require_none(examine(page) + examine_errors(page))
    require_none(visit(open_page(a.owner), pages_of("account", a)))
    person = a_person(name=ENDLESS)
    page = open_page(person)
    require_none(visit(page, ["/console/", "/app/", f"/connect/{'x' * 43}"]))
    page.goto(reverse("account:two-factor-begin"))
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Begin").click()
    require_none(examine(page) + examine_errors(page))
    an_app(person)
    require_none(visit(open_page(person), map(reverse, OF_TWO_FACTOR)))
    page = open_page(None)
    page.goto(reverse("account:sign-in"))
    page.get_by_label("E-mail").fill(person.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    require_none(visit(page, map(reverse, ("account:code", "account:recovery-code"))))


def test_pages_of_sign_up(open_page: Open, a: ExtremeTenant, live_server: LiveServer) -> None:
    page, base = open_page(None), live_server.url.replace("localhost", a.host)
    ended = f"{base}/sign-up/confirm/none"
    require_none(visit(page, [f"{base}/sign-up", f"{base}/sign-up/sent", ended]))
    page.goto(f"{base}/sign-up/confirm/{SIGN_UP_LINKS.sign(PendingSignUp.objects.get().uuid.hex)}")
    require_none(examine(page) + examine_errors(page))


@pytest.mark.parametrize(
    ("surface", "shown"),
    [
        ("workspace", "#listContacts, #createContact, #changeContact, #deleteContact"),
        ("agency", "#listSubAccounts, #createSubAccount, #onAddonGranted"),
    ],
)
def test_pages_of_the_reference(open_page: Open, transactional_db: None, surface: str, shown: str) -> None:
    """All operations look alike, so that colours are looked at where there is one of each kind."""
    page = open_page(None)
    page.goto(f"/api/docs/{surface}")
    assert page.locator(shown).count() == shown.count("#")
    require_none(examine(page, coloured=f".top, .contents, .intro, {shown}"))
