"""Two agencies on two hosts in a real browser, played side by side: each is met in its own name and looks alone.

The story is made of steps, each of which a visitor takes on their agency's host: a customer of both agencies, and at
last somebody who is new.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core import mail
from django.core.mail import EmailMultiAlternatives
from django.utils.timezone import now
from playwright.sync_api import Browser, Error, Page, expect
from pytest_django.live_server_helper import LiveServer

from agency.actors import SYSTEM
from agency.models import User
from agency.services import change_sign_up
from agency.services.colours import tokens_of
from agency.tasks import send_mail
from channelconnect.services.sessions.ending import connect_url
from tests.agency.console.browsers import PASSWORD, a_person
from tests.channelconnect.agencies import a_session, switch_on
from tests.factories import PlanFactory
from tests.flows.agency_site import expect_return
from tests.flows.white_label.agencies import OF_THE_PRODUCT, HostedAgency, is_customer_of_both
from tests.tenants import Tenant
from tools.sandbox import RunningSandbox, SandboxConfig, open_sandbox
from workspaces.subaccounts.models import Workspace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Everything that a page says or fetches: its title and texts, and the addresses of links, pictures and stylesheets.
EVERYTHING = """() => [
    document.title, document.body.innerText,
    ...[...document.querySelectorAll("[href], [src], [srcset], [action], [alt], [content]")].flatMap(
        (one) => ["href", "src", "srcset", "action", "alt", "content"].map((name) => one.getAttribute(name) || "")),
    ...performance.getEntriesByType("resource").map((one) => one.name),
].join("\\n")"""
COLOUR_OF = "([selector, property]) => getComputedStyle(document.querySelector(selector))[property]"


@dataclass
class Visitor:
    """Somebody on an agency's host, in a browser that knows both hosts."""

    page: Page
    here: HostedAgency
    others: list[HostedAgency]
    url: str
    person: User
    theme: str = "light"
    complaints: list[str] = field(default_factory=list)

    def complain(self, error: Error) -> None:
        self.complaints.append(str(error))

    def goto(self, path: str) -> None:
        self.page.goto(f"{self.url}{path}")
        self.look()

    def look(self) -> None:
        """The page is on the agency's host and in its name, and nothing on it is another's or the product's."""
        self.page.wait_for_load_state()
        assert self.page.url.startswith(self.url)
        everything = self.page.evaluate(EVERYTHING).lower()
        foreign = [*OF_THE_PRODUCT, "//localhost", *(trace for one in self.others for trace in one.traces)]
        assert [trace for trace in foreign if trace in everything] == [], self.page.url
        assert self.page.title().endswith(self.here.tenant.agency.name)
        icon = self.page.locator("link[rel=icon]").get_attribute("href")
        assert icon == f"/brand/{self.here.brand.favicon_digest}.png"

    def colour(self, selector: str, style: str) -> str:
        """The computed colour as #rrggbb."""
        found = self.page.evaluate(COLOUR_OF, [selector, style])
        return "#" + "".join(f"{int(part):02x}" for part in found.removeprefix("rgb(").removesuffix(")").split(","))

    def expect_colours(self, button: str, link: str = "") -> None:
        tokens = tokens_of(f"#{self.here.colour}", "dark" if self.theme == "dark" else "light")
        assert not link or self.colour(link, "color") == tokens["accent"]
        assert self.colour(button, "backgroundColor") == tokens["button"]
        assert self.colour(button, "color") == tokens["on-button"]

    def expect_logo(self) -> None:
        """The logo of the theme is there, with its pixels."""
        brand, logo = self.here.brand, self.page.locator("img.logo").first
        expect(logo).to_be_visible()
        digest = brand.dark_logo_digest if self.theme == "dark" else brand.logo_digest
        shown = logo.evaluate("image => [image.currentSrc, image.naturalWidth]")
        assert urlsplit(shown[0]).path == f"/brand/{digest}.png"
        assert shown[1] > 0

    def link_of_the_last_mail(self) -> str:
        """What e-mail has come names nobody else either; give the address in it."""
        mail.outbox.clear()
        send_mail()
        [message] = [one for one in mail.outbox if one.to == [f"nora@{self.here.name}.example"]]
        assert isinstance(message, EmailMultiAlternatives)
        parts = [str(part[0]) for part in message.alternatives]
        written = "\n".join([str(message.subject), message.from_email, str(message.body), *parts]).lower()
        foreign = [*OF_THE_PRODUCT, "//localhost", *(trace for one in self.others for trace in one.traces)]
        assert [trace for trace in foreign if trace in written] == []
        assert self.here.tenant.agency.name.lower() in written
        link = re.search(r"http\S+/sign-up/confirm/\S+", str(message.body))
        assert link
        assert link[0].startswith(self.url)
        return link[0]


Step = Callable[[Visitor], None]


def sign_in(visitor: Visitor) -> None:
    page = visitor.page
    visitor.goto("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    visitor.expect_logo()
    visitor.expect_colours(".button.primary", "p.small a")
    page.get_by_label("E-mail").fill(visitor.person.email)
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("The e-mail address or the password is wrong.").first).to_be_visible()
    visitor.look()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{visitor.url}/app/**")
    visitor.look()


def look_around_the_dashboard(visitor: Visitor) -> None:
    page = visitor.page
    for path in ("/app/channels", "/account/profile", "/console/", "/app/settings"):
        visitor.goto(path)
    expect(page.get_by_text(visitor.here.tenant.workspace.name).first).to_be_visible()
    visitor.expect_logo()
    visitor.expect_colours("main .button.primary", ".menu a[aria-current]")
    page.locator(".top .drop:not(.small-menu) summary").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    expect(page.get_by_text("Switch to")).to_have_count(0)


def meet_an_error(visitor: Visitor) -> None:
    visitor.goto("/app/nothing-here")
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Page not found")
    visitor.expect_logo()


def connect_a_channel(visitor: Visitor) -> None:
    """To the provider and back: to the agency's host, by the one address that is registered there."""
    page, session = visitor.page, a_session(switch_on(visitor.here.tenant))
    visitor.goto(urlsplit(connect_url(session, now=now()) or "").path)
    expect(page.get_by_role("heading", level=1)).to_contain_text(visitor.here.tenant.workspace.name)
    visitor.expect_logo()
    visitor.expect_colours(".button.primary")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Who are you?")
    page.get_by_role("link", name="ann", exact=True).click()
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("radio").first).to_be_visible()
    visitor.look()
    visitor.expect_logo()
    # Each takes an account of their own.
    page.get_by_role("radio").nth(0 if visitor.theme == "light" else 1).check()
    page.get_by_role("button", name="Connect").click()
    expect_return(page)
    session.refresh_from_db()
    assert session.status == "connected"


def be_nobody_on_the_other_host(visitor: Visitor) -> None:
    """The browser has signed in here; there it is asked to."""
    for other in visitor.others:
        visitor.page.goto(visitor.url.replace(visitor.here.host, other.host) + "/app/")
        expect(visitor.page.get_by_role("heading", level=1)).to_have_text("Sign in")
        assert visitor.here.tenant.mark not in visitor.page.content()


def sign_out(visitor: Visitor) -> None:
    visitor.goto("/account/invitations")
    visitor.page.get_by_role("button", name="Sign out").click()
    expect(visitor.page.get_by_text("You are signed out.")).to_be_visible()
    visitor.look()


def come_as_a_new_customer(visitor: Visitor) -> None:
    """From the page to sign up, by the e-mail with its link, to a first look at an own dashboard."""
    page, agency = visitor.page, visitor.here.tenant.agency
    plan = PlanFactory.create(agency=agency, name="Beginners")
    change_sign_up(agency=agency, plan=plan, is_on=True, by=SYSTEM)
    visitor.goto("/account/sign-in")
    page.get_by_role("link", name="Sign up").click()
    visitor.look()
    visitor.expect_logo()
    page.get_by_label("Your name", exact=True).fill("Nora Lind")
    page.get_by_label("Name of the business", exact=True).fill("Lind Flowers")
    page.get_by_label("E-mail", exact=True).fill(f"nora@{visitor.here.name}.example")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your e-mail")
    visitor.look()
    page.goto(visitor.link_of_the_last_mail())
    visitor.look()
    page.get_by_role("button", name="Confirm and begin").click()
    page.wait_for_url(f"{visitor.url}/app/**")
    visitor.look()
    visitor.expect_logo()
    assert Workspace.objects.get(name="Lind Flowers", agency=agency).plan == plan


STEPS: list[Step] = [
    sign_in,
    look_around_the_dashboard,
    meet_an_error,
    be_nobody_on_the_other_host,
    connect_a_channel,
    sign_out,
    come_as_a_new_customer,
]


@pytest.fixture
def sandbox(live_server: LiveServer, settings: Any) -> Iterator[RunningSandbox]:
    """The provider's stand-in, and the product set up to speak to it; the installation is at `localhost`."""
    settings.PUBLIC_URL = live_server.url
    with open_sandbox(SandboxConfig.read({}, redirect_uris=(f"{live_server.url}/connect/callback",))) as sandbox:
        for name, value in sandbox.variables.items():
            setattr(settings, name, value)
        yield sandbox


@pytest.fixture
def agencies(transactional_db: None) -> list[HostedAgency]:
    return [HostedAgency(Tenant(), "north", "0d9488"), HostedAgency(Tenant(), "south-sea", "ffcc00")]


@pytest.fixture
def visitors(
    browser: Browser, live_server: LiveServer, sandbox: RunningSandbox, agencies: list[HostedAgency]
) -> Iterator[list[Visitor]]:
    """One person, who is a customer of both agencies: in one browser in the light, in another in the dark."""
    person = a_person(name="Ada")
    is_customer_of_both(person, *agencies)
    port, made = urlsplit(live_server.url).port, []
    for theme, here in zip(("light", "dark"), agencies, strict=True):
        context = browser.new_context(color_scheme="dark" if theme == "dark" else "light")
        others = [one for one in agencies if one is not here]
        visitor = Visitor(context.new_page(), here, others, f"http://{here.host}:{port}", person, theme)
        visitor.page.on("pageerror", visitor.complain)
        made.append(visitor)
    yield made
    for visitor in made:
        visitor.page.context.close()
        assert visitor.complaints == []


def test_two_agencies_are_met_on_two_hosts(visitors: list[Visitor]) -> None:
    for step in STEPS:
        for visitor in visitors:
            step(visitor)
