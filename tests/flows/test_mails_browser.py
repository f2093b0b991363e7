"""E-mails as clients draw them: on a phone, in a reading pane and in a window, and in both themes."""

import re
from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, Route

from agency.actors import SYSTEM
from agency.models import Agency
from agency.services import set_accent, set_picture
from tests.agency.mail_samples import every_mail, html_of
from tests.factories import AgencyFactory
from tests.flows.every_page.checks import SCRIPTS, THEMES
from tests.images.pictures import a_picture

pytestmark = [pytest.mark.browser, pytest.mark.django_db]
WIDTHS: Final = (320, 600, 1280)
SMALLEST_TEXT, SMALLEST_BUTTON = 14, 44
STYLES: Final = re.compile(r"<style>.*?</style>", re.DOTALL)
# All e-mails in one document, each in a frame of its own: what is wrong with any of them at these widths.
WRONG: Final = """async ([mails, widths, smallestText, smallestButton]) => {
    const frames = mails.map(([name, html]) => {
        const frame = Object.assign(document.createElement("iframe"), { name, srcdoc: html });
        const loaded = new Promise((resolve) => { frame.onload = resolve; });
        document.body.append(frame);
        return [frame, loaded];
    });
    await Promise.all(frames.map(([, loaded]) => loaded));
    return frames.flatMap(([frame]) => widths.flatMap((width) => {
        frame.style.width = `${width}px`;
        frame.style.border = 0;
        const { documentElement: root, defaultView: view } = frame.contentDocument;
        const shown = [...root.querySelectorAll("body *")].filter((one) => one.checkVisibility());
        const buttons = shown.filter((one) => one.matches("a.button"));
        const found = [
            view.innerWidth !== width && `${view.innerWidth} wide`,
            root.scrollWidth > width && `runs sideways: ${root.scrollWidth}`,
            buttons.length !== 1 && `${buttons.length} buttons`,
            ...buttons.map((one) => one.getBoundingClientRect()).map((box) =>
                Math.min(box.width, box.height) < smallestButton && `a button of ${box.width} by ${box.height}`),
            ...shown.map((one) => parseFloat(view.getComputedStyle(one).fontSize)).map((size) =>
                size < smallestText && `text of ${size}`),
            [...root.querySelectorAll("img")].filter((one) => one.checkVisibility()).length > 1 && "two logos",
        ];
        return found.filter(Boolean).map((one) => `${frame.name} at ${width}: ${one}`);
    }));
}"""
# The logos that are shown, with the colours of the words that stand in for a picture.
LOGOS: Final = """() => [...document.querySelectorAll("img")].filter((one) => one.checkVisibility()).map((one) => {
    const { color, backgroundColor } = getComputedStyle(one);
    return [one.className, color, backgroundColor];
})"""
DARK, LIGHT, WHITE, NONE = "rgb(26, 32, 51)", "rgb(232, 235, 242)", "rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"
RIGHT_LOGOS: Final = {
    ("Bright", "light"): [],
    ("Bright", "dark"): [],
    ("Harbour", "light"): [["plate", DARK, NONE]],
    ("Harbour", "dark"): [["plate", DARK, WHITE]],
    ("Night", "light"): [["on-light", DARK, NONE]],
    ("Night", "dark"): [["on-dark", LIGHT, NONE]],
}


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(reduced_motion="reduce")

    def answer(route: Route) -> None:
        route.fulfill(body=a_picture(), content_type="image/png")

    page.route("**/brand/*", answer)
    yield page
    page.close()


@pytest.fixture
def looks(db: None) -> dict[str, Agency]:
    """An agency without a look, one with a colour that is hard to read on, and one with a logo for each theme."""
    plain, yellow, black = (AgencyFactory.create(name=name) for name in ("Bright", "Harbour", "Night"))
    for agency, accent in ((yellow, "#ffcc00"), (black, "#000000")):
        set_accent(agency=agency, accent=accent, by=SYSTEM)
        set_picture(kind="logo", agency=agency, file=a_picture(480, 160), by=SYSTEM)
    set_picture(kind="dark_logo", agency=black, file=a_picture(480, 160), by=SYSTEM)
    return {agency.name: Agency.objects.get(pk=agency.pk) for agency in (plain, yellow, black)}


def test_every_e_mail_fits_and_its_button_can_be_hit(page: Page, looks: dict[str, Agency]) -> None:
    mails = [(sample.name, html_of(sample.render("de"))) for sample in every_mail(looks["Night"])]
    bare = [(f"{name}, without styles", STYLES.sub("", html)) for name, html in mails]
    page.set_content("<!doctype html><body>")
    assert page.evaluate(WRONG, [[*mails, *bare], WIDTHS, SMALLEST_TEXT, SMALLEST_BUTTON]) == []


def test_axe_finds_nothing_in_either_theme_with_pictures_or_without(page: Page, looks: dict[str, Agency]) -> None:
    found, logos, [sample, *_] = [], {}, every_mail(looks["Bright"])
    for name, agency in looks.items():
        sample.mail.agency = agency
        html = html_of(sample.render("en"))
        for state, content in {"": html, "pictures blocked": html.replace("/brand/", "/blocked/")}.items():
            page.set_content(content)
            page.evaluate(SCRIPTS)
            for theme in THEMES:
                page.emulate_media(color_scheme=theme)
                found += [f"{name} {state} {theme}: {one}" for one in page.evaluate("findings", [{}, ""])]
                logos[name, theme] = page.evaluate(LOGOS)
    assert found == []
    assert logos == RIGHT_LOGOS
