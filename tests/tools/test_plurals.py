"""Every message with a number reads well with 0, 1, 2 and 5 in each language, from the catalogues that pages use."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from babel import Locale
from babel.messages.catalog import Message
from django.utils.translation import ngettext, npgettext, override, to_locale

from tools.messages.catalogues import LANGUAGES, read, translations_of

NUMBERS = (0, 1, 2, 5)
PLACEHOLDER = re.compile(r"%\((\w+)\)[sd]")
FORMS = {"one": 0, "many": 1, "other": 1}


def counted(language: str) -> Iterator[Message]:
    """Give the messages of a language that have a plural."""
    for message in read(language):
        if isinstance(message.id, tuple | list):
            yield message


def rendered(message: Message, number: int) -> str:
    """Render a message as pages do, in the active language: it says the number where it has one."""
    names = {name for form in message.id for name in PLACEHOLDER.findall(form)}
    one, more = message.id[0], message.id[1]
    text = npgettext(message.context, one, more, number) if message.context else ngettext(one, more, number)
    return text % {name: f"<{name}>" for name in names} if names else text


def placeholders(text: str) -> Counter[str]:
    return Counter(re.findall(r"<\w+>", text))


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_number_has_the_form_of_the_language(language: str) -> None:
    rule = Locale.parse(to_locale(language)).plural_form
    assert [rule(number) for number in NUMBERS] == [
        "one" if number == 1 or (number == 0 and language in {"fr", "pt-br"}) else "other" for number in NUMBERS
    ]
    wrong, found = [], list(counted(language))
    with override(language):
        for message in found:
            forms = translations_of(message)
            for number in NUMBERS:
                form = forms[FORMS[rule(number)]]
                shown = {name: f"<{name}>" for name in PLACEHOLDER.findall(form)}
                if rendered(message, number) != (form % shown if shown or "%%" in form else form):
                    wrong.append((message.id, number))
    assert (wrong, bool(found)) == ([], True)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_form_loses_what_is_filled_in(language: str) -> None:
    """Where the English of one says no number ("every day"), there is always at least one, so 0 is not asked."""
    lost = []
    with override(language):
        for message in counted(language):
            singular, plural = (placeholders(PLACEHOLDER.sub(r"<\1>", form)) for form in message.id)
            for number in NUMBERS if singular == plural else NUMBERS[1:]:
                shown = placeholders(rendered(message, number))
                if shown != (singular if number == 1 else plural):
                    lost.append((message.id, number, rendered(message, number)))
    assert lost == []
