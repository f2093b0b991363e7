"""PO files, one for each language but English, and the MO files compiled from them. Babel reads and writes both."""

from collections.abc import Iterable
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation import to_locale

from config.settings import BASE_DIR, LANGUAGE_CODE, LOCALE_PATHS
from config.settings import LANGUAGES as NAMES
from tools.messages.found import FoundMessage

LANGUAGES: Final = tuple(code for code, _ in NAMES if code != LANGUAGE_CODE)
# These header lines would change with every run.
VOLATILE: Final = tuple(
    f'"{name}'.encode()
    for name in ("POT-Creation-Date", "PO-Revision-Date", "Last-Translator", "Language-Team", "Report-Msgid")
)
NO_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)
HEADER: Final = "# The pages' words. `make messages` brings this file up to date and compiles it.\n#"


def path_of(language: str) -> Path:
    """Give the path of a language's PO file, from the project's root."""
    return (LOCALE_PATHS[0] / to_locale(language) / "LC_MESSAGES" / "django.po").relative_to(BASE_DIR)


def read(language: str) -> Catalog:
    """Read a language's PO file; give an empty catalogue if there is none yet."""
    path = BASE_DIR / path_of(language)
    if not path.exists():
        return Catalog(locale=to_locale(language))
    with path.open("rb") as file:
        return read_po(file, locale=to_locale(language))


def updated(old: Catalog, messages: Iterable[FoundMessage]) -> Catalog:
    """Give a catalogue of exactly these messages with their earlier translations; nothing is guessed."""
    catalogue = Catalog(locale=old.locale, header_comment=HEADER, fuzzy=False)
    for found in messages:
        key = (found.singular, found.plural) if found.plural else found.singular
        before = old.get(found.singular, found.context or None)
        is_same = before is not None and before.id == key
        catalogue.add(
            key,
            before.string if is_same and before else None,
            locations=[(place, 0) for place in found.places],
            context=found.context or None,
        )
    return catalogue


def write(language: str, catalogue: Catalog) -> None:
    """Write a language's PO file and its MO file."""
    path = BASE_DIR / path_of(language)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(as_po(catalogue))
    path.with_suffix(".mo").write_bytes(as_mo(catalogue))


def as_po(catalogue: Catalog) -> bytes:
    file = BytesIO()
    write_po(file, catalogue, width=120, sort_output=True, include_lineno=False, omit_header=False)
    lines = [line for line in file.getvalue().splitlines(keepends=True) if not line.startswith(VOLATILE)]
    return b"".join(lines)


def as_mo(catalogue: Catalog) -> bytes:
    file, written = BytesIO(), read_po(BytesIO(as_po(catalogue)), locale=catalogue.locale)
    written.creation_date = written.revision_date = NO_TIME
    write_mo(file, written)
    return file.getvalue()


def translations_of(message: Message) -> tuple[str, ...]:
    """Give a message's translations: one text for each plural form, or one text."""
    string = message.string
    return tuple(string) if isinstance(string, tuple | list) else (str(string or ""),)
