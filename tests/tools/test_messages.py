"""The pages' words are complete in every language, and what is compiled is what was written."""

import re

import pytest

from tools.local import ROOT
from tools.messages.catalogues import LANGUAGES, as_mo, as_po, path_of, read, translations_of, updated
from tools.messages.found import FoundMessage, found_messages

# What a translation must hold as often as the English: placeholders and tags.
FIXED = re.compile(r"%\(\w+\)[sd]|%%|%[sd]|\{\w*\}|</?\w+[^>]*>")


@pytest.fixture(scope="module")
def found() -> list[FoundMessage]:
    return found_messages()


def test_messages_are_found_in_templates_python_and_refusals(found: list[FoundMessage]) -> None:
    by_text = {message.singular: message for message in found}
    assert "templates/account/profile.html" in by_text["Your account"].places
    assert "agency/services/brands.py" in by_text["The colour must be written like #1f6feb."].places
    assert any(message.plural for message in found)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_is_up_to_date_complete_and_compiled(language: str, found: list[FoundMessage]) -> None:
    path = ROOT / path_of(language)
    catalogue = updated(read(language), found)
    # The difference of two catalogues takes minutes to show, and says nothing that `make messages` does not.
    is_up_to_date = path.read_bytes() == as_po(catalogue)
    is_compiled = path.with_suffix(".mo").read_bytes() == as_mo(catalogue)
    assert (is_up_to_date, is_compiled) == (True, True), "make messages brings it up to date"
    missing = [message.id for message in catalogue if message.id and not all(translations_of(message))]
    assert missing == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_translation_keeps_what_is_filled_in(language: str) -> None:
    wrong = []
    for message in read(language):
        if not message.id:
            continue
        forms = message.id if isinstance(message.id, tuple | list) else (message.id,)
        allowed = {tuple(sorted(FIXED.findall(form))) for form in forms}
        texts = translations_of(message)
        wrong += [text for text in texts if tuple(sorted(FIXED.findall(text))) not in allowed]
    assert wrong == []
