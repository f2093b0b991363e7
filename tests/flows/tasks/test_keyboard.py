"""The person at the keyboard complains of pages on which somebody would be lost."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.flows.tasks import keyboard
from tests.flows.tasks.conftest import NOTE_REVEALED
from tests.flows.tasks.keyboard import PersonAtTheKeyboard

pytestmark = pytest.mark.browser
PAGE = """
<!doctype html><title>A page</title><style>button:focus {{ outline: 2px solid black }} {style}</style>
<main><button>First</button><button id="second">Second</button><button>Third</button></main><script>{script}</script>
"""
# The browser moves focus to the message once the stylesheet is there. It is sent when the page has asked for "/seen".
MESSAGE_PAGE = """
<!doctype html><title>A page</title>
<script>setTimeout(() => fetch("/seen"), 500)</script>
<link rel="stylesheet" href="/style.css">
<a class="skip" href="#main" onclick="document.title = 'skipped'">Skip to the content</a>
<div tabindex="-1" autofocus>Saved</div>
<main id="main" tabindex="-1"><button onclick="document.title += ' is used'">Go on</button></main>
"""
SCRIPTED_PAGE = """
<!doctype html><title>A page</title><style>:focus { outline: 2px solid black }</style>
<main><button>First</button><p hidden><button>Second</button></p></main><script src="/static/own.0123.js"></script>
"""
SECOND = "document.querySelector('#second')"


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.add_init_script(NOTE_REVEALED)
    yield page
    page.close()


def reach_the_third(page: Page, *, style: str = "", script: str = "") -> None:
    page.goto("about:blank")  # forgets what was noted on the page of the test before
    page.set_content(PAGE.format(style=style, script=script))
    PersonAtTheKeyboard(page).activate(page.get_by_role("button", name="Third"))


def test_a_page_on_which_focus_is_always_seen_is_walked_through(page: Page) -> None:
    reach_the_third(page, script="document.onclick = (event) => { document.title = event.target.textContent; }")
    assert page.title() == "Third"


@pytest.mark.parametrize(
    ("style", "script", "complaint"),
    [
        ("#second:focus { outline: none }", "", 'nobody sees that focus stands on <button id="second"'),
        ("#second { position: absolute; left: -999px }", "", 'nobody sees that focus stands on <button id="second"'),
        ("", f"{SECOND}.onkeydown = (event) => event.preventDefault()", 'focus is trapped in <button id="second"'),
        ("", f"{SECOND}.onfocus = (event) => event.target.blur()", "focus was lost after <button>First"),
        ("", f"{SECOND}.after(document.createElement('iframe'))", 'focus left the page after <button id="second"'),
        (
            "",
            f"{SECOND}.onkeydown = (event) => {{ {SECOND}.previousSibling.focus(); event.preventDefault(); }}",
            "10 Tabs did not lead to",
        ),
    ],
    ids=["no outline", "out of sight", "trapped", "lost", "in a frame", "in a circle"],
)
def test_what_loses_somebody_is_complained_of(
    page: Page, style: str, script: str, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyboard, "MOST_TABS", 10)
    with pytest.raises(AssertionError, match=complaint):
        reach_the_third(page, style=style, script=script)


def test_a_page_first_moves_focus_to_its_message(page: Page) -> None:
    held: list[Route] = []

    def send_style(route: Route) -> None:
        held[0].fulfill(body=":focus { outline: 2px solid black }", content_type="text/css")
        route.fulfill(body="")

    page.route("**/style.css", lambda route: held.append(route))
    page.route("**/seen", send_style)
    page.route("**/page", lambda route: route.fulfill(body=MESSAGE_PAGE, content_type="text/html"))
    page.goto("http://localhost/page", wait_until="commit")
    PersonAtTheKeyboard(page).activate(page.get_by_role("button", name="Go on"))
    expect(page).to_have_title("A page is used")


def test_scripts_and_what_only_they_show_are_noted(page: Page) -> None:
    show = "setTimeout(() => { document.querySelector('p').hidden = false; }, 10)"
    page.route("**/own.0123.js", lambda route: route.fulfill(body=show, content_type="text/javascript"))
    page.route("**/page", lambda route: route.fulfill(body=SCRIPTED_PAGE, content_type="text/html"))
    page.goto("http://localhost/page")
    person = PersonAtTheKeyboard(page)
    person.activate(page.get_by_role("button", name="First"))
    assert person.scripts == {"own"}
    person.activate(page.get_by_role("button", name="Second"))
    assert person.scripts == {"own", "what reveals <button>Second</button>"}
