"""The pages' words are complete in every language, and what is compiled is what was written."""

import re

import pytest

from tools.local import ROOT
from tools.messages.catalogues import LANGUAGES, as_mo, as_po, path_of, read, translations_of, updated
from tools.messages.found import FoundMessage, found_messages

pytestmark = pytest.mark.slow

# What a translation must hold as often as the English: placeholders and tags.
FIXED = re.compile(r"%\(\w+\)[sd]|%%|%[sd]|\{\w*\}|</?\w+[^>]*>")

SIZE = r"\d (?:[KM]i[Bo])\b"
# What no translation may hold: another form of address than the language's own, other words for our terms (the table is
# in docs/contributing.md), other quotation marks, and a space at which a line may break where it must not.
WRONG = {
    "de": (
        r"\b(?:[Dd]u|[Dd]ich|[Dd]ir|[Dd]eine?[mnrs]?|[Ee]uch|[Ee]uer)\b",
        r"Automatisierung|Dienstleistung|Workspace|Broadcast|Rücksprungadresse|[“”](?=\w)",
    ),
    "es": (
        r"\b(?:[Uu]sted(?:es)?|[Vv]osotr[oa]s|[Vv]uestr[oa]s?|habéis)\b",
        r"(?:^|[.:] )(?:Compruebe|Elija|Escriba|Espere|Haga|Introduzca|Inténtelo|Póngase|Pulse|Revise|Seleccione)\b",
        r"[“”]",
    ),
    "fr": (
        r"\b(?:tu|toi|te|ton|ta|tes)\b",
        r"I\.A\.|clés? d.API|\btags?\b|[“”]",
        r" [;?!»]| :(?:\s|$)|« |\w'\w|\d \d{3}\b",
    ),
    "pt-br": (
        r"\b(?:[Tt]u|[Tt]eus?|[Tt]uas?|[Cc]ontigo|[Vv]ós|[Ee]crã|[Ff]icheiros?|[Uu]tilizador(?:es)?|[Tt]elemóvel)\b",
        r"I\.A\.|\b[Tt]ags?\b|\bum URL\b|[«»]",
    ),
}


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


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_keeps_to_its_form_of_address_its_terms_and_its_spaces(language: str) -> None:
    wrong = re.compile("|".join((SIZE, *WRONG[language])))
    texts = [FIXED.sub("X", text) for message in read(language) if message.id for text in translations_of(message)]
    assert [text for text in texts if wrong.search(text)] == []
