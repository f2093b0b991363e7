"""Each page is loaded once, then seen at every width from a phone's to a desk's, in both themes, and by axe.

A page that is as it was at the last whole sweep (`make sweep`) is left out: `swept.json` says what each is made of.
"""

from collections.abc import Sequence

import pytest
from django.contrib.auth.tokens import default_token_generator
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from agency.models import PendingSignUp
from agency.services.mail.content import sign_up_signer
from tests.agency.console.browsers import PASSWORD, a_person
from tests.agency.two_factor import an_app
from tests.flows.every_page.checks import examine, examine_errors, examine_frame
from tests.flows.every_page.extremes import EMAIL, EMOJI, ENDLESS, RIGHT_TO_LEFT, ExtremeTenant
from tests.flows.every_page.pages import (
    ACCOUNT,
    CONSOLE,
    DASHBOARD,
    FRAME_OF_CONSOLE,
    FRAME_OF_DASHBOARD,
    NEWCOMERS,
    REFERENCE,
    STRANGERS,
)
from tests.flows.every_page.pages import BOOKING as BOOKING_PAGES
from tests.flows.every_page.pages import SIGN_UP as SIGN_UP_PAGES
from tests.flows.every_page.routes import ANONYMOUS, BOOKING, CONNECT, NOT_LOOKED_AT, PAY, SIGN_UP, address_of, names_in
from tests.flows.every_page.sweep import Open, Sweep, sweeps
from tests.workspaces.appointments.public.salons import Visitor, a_class, a_held_booking, a_salon, classes_page
from workspaces.appointments.models import Appointment

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_installation")]


@pytest.fixture
def a(transactional_db: None, _installation: None) -> ExtremeTenant:
    return ExtremeTenant()


def require_none(found: list[str]) -> None:
    assert not found, "\n".join(found)


def examine_with_errors(page: Page) -> list[str]:
    return examine(page) + examine_errors(page)


def halves_of(pages: Sequence[str]) -> pytest.MarkDecorator:
    """Have two tests, so that two workers share what takes longest."""
    halves = (pages[::2], pages[1::2])
    parameters = [pytest.param(half, marks=sweeps(*half), id=str(number)) for number, half in enumerate(halves)]
    return pytest.mark.parametrize("pages", parameters)


def test_the_tables_know_every_route() -> None:
    assert {name for namespace in ("console", "app", "account") for name in names_in(namespace)} >= NOT_LOOKED_AT
    assert names_in("connect") == CONNECT
    assert names_in("pay") == PAY
    assert names_in("sign-up") == SIGN_UP
    assert names_in("book") == BOOKING


@halves_of(CONSOLE)
def test_pages_of_the_console(sweep: Sweep, open_page: Open, a: ExtremeTenant, pages: Sequence[str]) -> None:
    require_none(sweep.visit(open_page(a.owner), {name: address_of(name, a) for name in pages}))


def examine_sparkline(page: Page) -> list[str]:
    box = page.locator(".sparkline").first.bounding_box()
    size = box and (box["width"], box["height"])
    return [] if size == (120, 24) else [f"the sparkline's size is {size}"]


@sweeps(*FRAME_OF_CONSOLE)
def test_the_frame_of_the_console(sweep: Sweep, open_page: Open, a: ExtremeTenant) -> None:
    page = open_page(a.owner)
    frame, sparkline, banner = FRAME_OF_CONSOLE

    def open_as_customer() -> None:
        page.goto(reverse("console:sub-account", args=[a.customer.uuid]))
        page.get_by_role("button", name="Open as customer").click()
        page.goto(reverse("app:people"))

    found = sweep.step(page, frame, lambda: page.goto("/console/"), lambda: examine_frame(page))
    found += sweep.step(
        page, sparkline, lambda: page.goto(reverse("console:webhooks")), lambda: examine_sparkline(page)
    )
    require_none(found + sweep.step(page, banner, open_as_customer, lambda: examine(page, ".agency-banner")))


def choose_the_customer(page: Page) -> Page:
    page.goto("/app/choose")
    page.get_by_role("button", name=ENDLESS).first.click()
    return page


@halves_of(DASHBOARD)
def test_pages_of_the_dashboard(sweep: Sweep, open_page: Open, a: ExtremeTenant, pages: Sequence[str]) -> None:
    page = choose_the_customer(open_page(a.customer.owner))
    require_none(sweep.visit(page, {name: address_of(name, a) for name in pages}))


@sweeps(FRAME_OF_DASHBOARD)
def test_the_frame_of_the_dashboard(sweep: Sweep, open_page: Open, a: ExtremeTenant) -> None:
    page = choose_the_customer(open_page(a.customer.owner))
    require_none(
        sweep.step(page, FRAME_OF_DASHBOARD, lambda: page.goto("/app/automations"), lambda: examine_frame(page))
    )


@sweeps(*STRANGERS, *ACCOUNT)
def test_pages_about_accounts(sweep: Sweep, open_page: Open, a: ExtremeTenant) -> None:
    page = open_page(None)
    unknown, ended, link = STRANGERS[len(ANONYMOUS) :]
    addresses = {name: reverse(name) for name in ANONYMOUS}
    found = sweep.visit(page, {**addresses, unknown: "/account/nothing-here"})
    account = f"/account/set-password/{urlsafe_base64_encode(force_bytes(a.owner.pk))}"
    found += sweep.step(page, ended, lambda: page.goto(f"{account}/none"), lambda: examine(page))
    token = default_token_generator.make_token(a.owner)
    found += sweep.step(page, link, lambda: page.goto(f"{account}/{token}"), lambda: examine_with_errors(page))
    require_none(found + sweep.visit(open_page(a.owner), {name: address_of(name, a) for name in ACCOUNT}))


@sweeps(*NEWCOMERS)
def test_pages_of_somebody_without_a_team(sweep: Sweep, open_page: Open, transactional_db: None) -> None:
    person = a_person(name=ENDLESS)
    page = open_page(person)
    console, app, connect, set_up, *with_two_factor, code, recovery_code = NEWCOMERS

    def begin_two_factor() -> None:
        page.goto(reverse("account:two-factor-begin"))
        page.get_by_label("Your password").fill(PASSWORD)
        page.get_by_role("button", name="Start").click()

    found = sweep.visit(page, {console: "/console/", app: "/app/", connect: f"/connect/{'x' * 43}"})
    found += sweep.step(page, set_up, begin_two_factor, lambda: examine_with_errors(page))
    an_app(person)
    addresses = map(reverse, ("account:security", "account:recovery-codes", "account:two-factor-off"))
    found += sweep.visit(open_page(person), dict(zip(with_two_factor, addresses, strict=True)))
    page = open_page(None)
    page.goto(reverse("account:sign-in"))
    page.get_by_label("E-mail").fill(person.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    require_none(found + sweep.visit(page, {name: reverse(name) for name in (code, recovery_code)}))


@sweeps(*SIGN_UP_PAGES)
def test_pages_of_sign_up(sweep: Sweep, open_page: Open, a: ExtremeTenant, live_server: LiveServer) -> None:
    page, base = open_page(None), live_server.url.replace("localhost", a.host)
    form, sent, ended, confirm = SIGN_UP_PAGES
    addresses = {form: "sign-up", sent: "sign-up/sent", ended: "sign-up/confirm/none"}
    found = sweep.visit(page, {name: f"{base}/{address}" for name, address in addresses.items()})
    link = f"{base}/sign-up/confirm/{sign_up_signer().sign(PendingSignUp.objects.get().uuid.hex)}"
    require_none(found + sweep.step(page, confirm, lambda: page.goto(link), lambda: examine_with_errors(page)))


@sweeps(*BOOKING_PAGES)
def test_pages_of_booking(sweep: Sweep, open_page: Open, a: ExtremeTenant) -> None:
    page, visitor = open_page(None), Visitor()
    salon = a_salon(a.agency, name=ENDLESS, service_name=EMOJI, staff_name=RIGHT_TO_LEFT, introduction="W" * 2_000)
    unknown, services, times, details, code, deposit, manage, move_times, move, cancel, *of_class = BOOKING_PAGES
    addresses = {unknown: "/book/nobody", services: salon.page, times: salon.times}
    found = sweep.visit(page, addresses)
    link = visitor.first_time(salon)
    found += sweep.step(page, details, lambda: page.goto(link), lambda: examine_with_errors(page))
    typed = visitor.send_details(link, name=ENDLESS, email=EMAIL).headers["Location"]
    found += sweep.step(page, code, lambda: page.goto(typed), lambda: examine_with_errors(page))
    visitor.type_code(typed)
    booked = reverse("book:manage", args=[Appointment.objects.latest("id").token])
    to_pay = a_held_booking(salon, visitor)
    found += sweep.step(page, deposit, lambda: page.goto(to_pay), lambda: examine(page))
    new = visitor.links(f"{booked}/times", "/move[?]")[-1]
    rest = {manage: booked, move_times: f"{booked}/times", move: new, cancel: f"{booked}/cancel"}
    session = a_class(salon, seats=1, name=ENDLESS)
    visitor.book_class(session)
    seat = visitor.book_class(session, name=ENDLESS, email=EMAIL, waits="1")
    pages_of_class = classes_page(session), visitor.class_link(session), seat, f"{seat}/give-back"
    rest |= dict(zip(of_class, pages_of_class, strict=True))
    require_none(found + sweep.visit(page, rest))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        pytest.param(name, shown, marks=sweeps(name), id=name)
        for name, shown in zip(
            REFERENCE,
            (
                "#listContacts, #createContact, #changeContact, #deleteContact",
                "#listSubAccounts, #createSubAccount, #onAddonGranted",
            ),
            strict=True,
        )
    ],
)
def test_pages_of_the_reference(sweep: Sweep, open_page: Open, transactional_db: None, name: str, shown: str) -> None:
    """All operations look alike, so that colours are looked at where there is one of each kind."""
    page = open_page(None)

    def look() -> list[str]:
        assert page.locator(shown).count() == shown.count("#")
        return examine(page, coloured=f".top, .contents, .intro, {shown}")

    surface = name.partition(":")[2]
    require_none(sweep.step(page, name, lambda: page.goto(f"/api/docs/{surface}"), look))
