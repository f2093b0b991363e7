"""No page shows a sentence of ours that has no translation: in a language of brackets, none stands outside them."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from django.conf import settings
from django.test import Client
from django.utils.translation import trans_real

from agency.models import User
from tests.agency.console.browsers import a_browser
from tests.flows.every_page import one_extreme
from tests.flows.every_page.extremes import ExtremeTenant
from tests.flows.every_page.one_extreme import LOOPBACK
from tests.flows.every_page.routes import ANONYMOUS, address_of, pages_of
from tools.messages.found import found_messages
from workspaces.automations import flows

a, extreme, extreme_library = one_extreme.a, one_extreme.extreme, one_extreme.extreme_library
BRACKETED = "ja"  # Django knows this language, the product does not speak it, and none of the words below are in it
# Words that no name in the tests' rows holds, and hardly a sentence does without.
OURS = re.compile(r"\b(?:the|is|are|was|your|you|this|that|has|have|cannot|must|not|its|from|will|here|yet|were)\b")
STEPS = Path(flows.__file__).parent / "steps"
NOT_READ = {"script", "style", "code", "pre", "textarea", "option"}
SHOWN = ("title", "placeholder", "aria-label", "alt", "data-said", "data-label", "data-confirm")


class Sentences(HTMLParser):
    """What a page shows, piece by piece, with attributes that are read out or shown."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.pieces: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in NOT_READ:
            self.inside.append(tag)
        self.pieces += [value for name, value in attributes if name in SHOWN and value]

    def handle_endtag(self, tag: str) -> None:
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.pieces.append(data)


def bracketed(text: str) -> str:
    return f"⟦{text}⟧"


def outside(piece: str) -> str:
    """Give what of a piece stands outside all brackets."""
    depth, kept = 0, []
    for letter in piece:
        depth += (letter == "⟦") - (letter == "⟧")
        kept.append(letter if depth == 0 and letter != "⟧" else " ")
    return "".join(kept)


@pytest.fixture(scope="module")
def bracketed_locale(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every message of ours in brackets, made once: all code and templates are read for it."""
    catalogue = Catalog(locale=BRACKETED)
    for found in found_messages():
        if found.plural:
            catalogue.add((found.singular, found.plural), (bracketed(found.singular), bracketed(found.plural)))
        else:
            catalogue.add(found.singular, bracketed(found.singular), context=found.context or None)
    file = BytesIO()
    write_mo(file, catalogue)
    locale = tmp_path_factory.mktemp("locale")
    path = locale / BRACKETED / "LC_MESSAGES" / "django.mo"
    path.parent.mkdir(parents=True)
    path.write_bytes(file.getvalue())
    return locale


@pytest.fixture(autouse=True)
def _brackets(settings: Any, bracketed_locale: Path, extreme_library: Path) -> Iterator[None]:
    settings.LOCALE_PATHS = [bracketed_locale]
    settings.LANGUAGES = [*settings.LANGUAGES, (BRACKETED, "Brackets")]
    settings.PACK_LIBRARY = extreme_library
    settings.WEBHOOK_ALLOWED_NETWORKS = LOOPBACK
    yield
    trans_real._translations.pop(BRACKETED, None)  # type: ignore[attr-defined]  # Django's cache of catalogues


def found_on(browser: Client, addresses: list[str]) -> list[str]:
    """Give each sentence of ours that stands outside brackets, with where."""
    browser.cookies["language"] = BRACKETED
    # The library's texts, and the names of the steps that they are made of, are in English everywhere.
    files = [*Path(settings.PACK_LIBRARY).rglob("*.*"), *STEPS.glob("*.py")]
    content = "".join(path.read_text() for path in files)
    found = []
    for address in addresses:
        answer = browser.get(address)
        if "text/html" not in answer.get("Content-Type", "") or answer.streaming:
            continue
        for piece in Sentences(answer.content.decode()).pieces:
            rest = " ".join(outside(piece).split())
            if OURS.search(rest) and rest.lstrip("0123456789. ") not in content:
                found.append(f"{address}: {rest[:100]}")
    return found


@pytest.mark.parametrize("namespace", ["console", "app", "account"])
def test_every_sentence_of_a_page_can_be_translated(a: ExtremeTenant, namespace: str) -> None:
    person: User = a.owner if namespace != "app" else a.customer.owner
    found = found_on(a_browser(person), pages_of(namespace, a))
    assert not found, "\n".join(found)


def test_every_sentence_for_strangers_can_be_translated(a: ExtremeTenant) -> None:
    assert found_on(a_browser(), [address_of(name, a) for name in ANONYMOUS]) == []
