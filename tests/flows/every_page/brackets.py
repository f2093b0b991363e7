"""A language in which each sentence of ours stands in brackets, and what a page shows outside them."""

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from django.conf import settings
from django.test import Client, override_settings
from django.utils.translation import trans_real

from tests.factories import flows as tests_flows
from tests.flows.every_page.one_extreme import LOOPBACK
from tools.messages.found import found_messages
from workspaces.automations import flows

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


@pytest.fixture
def in_brackets(bracketed_locale: Path, extreme_library: Path) -> Iterator[None]:
    """The product, speaking that language as well."""
    languages = [*settings.LANGUAGES, (BRACKETED, "Brackets")]
    with (
        override_settings(LOCALE_PATHS=[bracketed_locale], LANGUAGES=languages),
        override_settings(PACK_LIBRARY=extreme_library, WEBHOOK_ALLOWED_NETWORKS=LOOPBACK),
    ):
        yield
    trans_real._translations.pop(BRACKETED, None)  # type: ignore[attr-defined]  # Django's cache of catalogues


def read_in_brackets(browser: Client) -> Client:
    """Let a browser ask for that language."""
    browser.cookies["language"] = BRACKETED
    return browser


@cache
def in_english_everywhere(library: Path) -> str:
    """Give the texts of the library's and the tests' flows, and the names of their steps."""
    files = [*library.rglob("*.*"), *STEPS.glob("*.py"), Path(tests_flows.__file__)]
    return "\n".join(path.read_text() for path in files)


def untranslated(answer: Any, address: str) -> list[str]:
    """Give each sentence of ours that stands outside brackets on a page, with where."""
    if "text/html" not in answer.get("Content-Type", "") or answer.streaming:
        return []
    found, content = [], in_english_everywhere(Path(settings.PACK_LIBRARY))
    for piece in filter(OURS.search, Sentences(answer.content.decode()).pieces):
        rest = " ".join(outside(piece).split())
        if OURS.search(rest) and rest.lstrip("0123456789. ") not in content:
            found.append(f"{address}: {rest[:100]}")
    return found
