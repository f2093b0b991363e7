"""Take the pictures of the help's guides anew: `make pictures`. One that looks as it did stays byte for byte."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final

import pytest
from django.conf import settings as project
from django.test import Client
from django.utils import translation
from PIL import Image
from playwright.sync_api import Browser, FloatRect, Page
from playwright.sync_api import Error as PlaywrightError
from pytest_django.live_server_helper import LiveServer

from agency.models import User
from agency.pages.help import PICTURE_DOTS, guides
from agency.templatetags.pages import clock_time
from tests.agency.console.browsers import PASSWORD, a_browser
from tests.flows.guide_pictures.business import SmallTenant
from tests.flows.guide_pictures.shots import EDGE, SHOTS, Shot
from tests.flows.guide_pictures.words import WORDS
from tests.flows.screenshots.comparing import share_of_squares
from tests.flows.screenshots.conftest import STYLED

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

FOLDER: Final = project.BASE_DIR / "templates" / "static"
MARKING: Final = Path(__file__).with_name("marking.js").read_text()
# Times differ from one run to the next. Where things stand is measured afterwards.
SETTLING: Final = """async time => {
    for (const one of document.querySelectorAll("time")) one.textContent = time;
    await document.fonts.ready;
}"""
LOOK: Final = """
    *, *::before, *::after { animation: none !important; transition: none !important }
    .thread-day, .composer-window, .crumbs, .bubble-foot span, .idle-limits { display: none !important }
    #header, .breadcrumbs, .field-id, .field-uuid { display: none !important }
    /* An empty field for a day is in the browser's language. */
    ::-webkit-datetime-edit { opacity: 0 }
    .step-ring, .step-number { position: absolute; z-index: 9999; box-sizing: border-box }
    .step-ring { border: 2px solid #c2185b; border-radius: 8px }
    .step-number { width: 22px; height: 22px; margin: -11px 0 0 -11px; border-radius: 50%; background: #c2185b;
        color: #fff; font: 700 13px/22px system-ui, sans-serif; text-align: center }
"""
LARGEST: Final = 29_000
# Of all squares of a picture; a word of three letters is more.
UNCHANGED: Final = 0.0002
A_MORNING: Final = datetime(2026, 5, 12, 9, 30, tzinfo=UTC)


@dataclass
class Camera:
    """A browser page that looks at the pages of one tenant in one language."""

    page: Page
    url: str
    of: SmallTenant
    language: str
    sessions: dict[str, str]

    def take(self, area: str, shot: Shot) -> bytes:
        page = self.page
        self._cookie(project.SESSION_COOKIE_NAME, self.sessions[area])
        page.set_viewport_size({"width": shot.width, "height": shot.height})
        answer = page.goto(shot.address(self.of))
        assert answer
        assert answer.status == 200, answer.url
        page.evaluate(STYLED, LOOK)
        shot.before(page, self.of)
        with translation.override(self.language):
            time = clock_time(A_MORNING)
        page.evaluate(SETTLING, time)
        steps = [{"number": number, "box": self._box(selector)} for number, selector in shot.steps.items()]
        page.evaluate(MARKING, steps)
        return page.screenshot(clip=self._clip(shot), animations="disabled", caret="hide", full_page=True)

    def _cookie(self, name: str, value: str) -> None:
        self.page.context.add_cookies([{"name": name, "value": value, "url": self.url}])

    def _box(self, selector: str) -> FloatRect:
        found = self.page.locator(selector).first.bounding_box()
        assert found, selector
        return found

    def _clip(self, shot: Shot) -> FloatRect:
        boxes = [self._box(selector) for selector in shot.shows]
        left = max(0, min(box["x"] for box in boxes) - EDGE)
        top = max(0, min(box["y"] for box in boxes) - EDGE)
        right = min(shot.width, max(box["x"] + box["width"] for box in boxes) + EDGE)
        bottom = max(box["y"] + box["height"] for box in boxes) + shot.below
        height = min(bottom - top, shot.most)
        return {"x": round(left), "y": round(top), "width": round(right - left), "height": round(height)}


@pytest.fixture
def page(browser: Browser, live_server: LiveServer, language: str) -> Iterator[Page]:
    options: dict[str, Any] = {"reduced_motion": "reduce", "color_scheme": "light", "timezone_id": "UTC"}
    context = browser.new_context(
        base_url=live_server.url, locale=language, device_scale_factor=PICTURE_DOTS, **options
    )
    context.set_default_timeout(10_000)
    yield context.new_page()
    context.close()


@pytest.fixture
def camera(page: Page, live_server: LiveServer, settings: Any, language: str) -> Camera:
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    settings.PUBLIC_URL = "https://app.example.com"
    settings.DEFAULT_FROM_EMAIL = "mail@example.com"
    of = SmallTenant(WORDS[language])
    people = {"console": of.staff, "app": of.customer.owner}
    browsers = {area: a_browser(person) for area, person in people.items()} | {"admin": _support()}
    sessions = {area: one.cookies[project.SESSION_COOKIE_NAME].value for area, one in browsers.items()}
    camera = Camera(page, live_server.url, of, language, sessions)
    page.context.add_cookies([{"name": project.LANGUAGE_COOKIE_NAME, "value": language, "url": live_server.url}])
    return camera


def _support() -> Client:
    person = User.objects.create_superuser("support@example.com", PASSWORD, name="Support")
    browser = a_browser()
    browser.post("/admin/login/", {"username": person.email, "password": PASSWORD, "next": "/admin/"})
    return browser


@pytest.mark.parametrize("language", [code for code, _ in project.LANGUAGES])
def test_take_the_pictures(camera: Camera, language: str, capsys: pytest.CaptureFixture[str]) -> None:
    own = [guide for guide in guides if guide.picture_file(language).startswith(f"help/{language}/")]
    failed, changed = [], []
    for guide in own:
        file = FOLDER / guide.picture_file(language)
        try:
            taken = camera.take(guide.area, SHOTS[guide.area][guide.slug])
        except PlaywrightError as error:
            failed.append(f"{guide.name}: {error}")
        else:
            changed += [str(file.relative_to(project.BASE_DIR))] if _keep(file, taken) else []
    with capsys.disabled():
        lines = [f"\n{language}: {len(changed)} of {len(own)} pictures changed", *changed]
        sys.stdout.write("\n  ".join(lines) + "\n")
    assert not failed, "\n".join(failed)


def _keep(file: Path, taken: bytes) -> bool:
    """Write the picture if it looks different, and say whether it does."""
    small = _small(taken)
    if file.exists() and share_of_squares(_opened(file.read_bytes()), _opened(small)) <= UNCHANGED:
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(small)
    return True


def _small(taken: bytes) -> bytes:
    """Write it without loss in few colours, which keeps words sharper than a lossy form of the same size."""
    for colours in (128, 64, 32, 16):
        written, few = BytesIO(), _opened(taken).quantize(colours, dither=Image.Dither.NONE)
        few.convert("RGB").save(written, "WEBP", lossless=True, quality=75, method=4)
        if written.tell() <= LARGEST:
            break
    return written.getvalue()


def _opened(content: bytes) -> Image.Image:
    with Image.open(BytesIO(content)) as opened:
        return opened.convert("RGB")
