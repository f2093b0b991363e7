"""Values that several kinds of notices have: times, texts, and the person whom a WhatsApp notice names."""

import math
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, TypedDict

from channelconnect.providers.parsing import Row, number, row, rows, text
from workspaces.conversations.facts import ChannelReference, Person

USER_ID: Final = re.compile(r"[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}", re.ASCII)
SHORTEST_NUMBER: Final = 5
LONGEST_NUMBER: Final = 20
LONGEST_PHONE: Final = 15
NOBODY: Final[Row] = {}


def whatsapp_person(number: object, user_id: object = None, contact: Row = NOBODY) -> Person | None:
    """Combine everything by which a notice names a person; None if it names nobody.

    The business-scoped id may be in the place of the number.
    """
    external_id = _number(number) or _number(contact.get("wa_id"))
    own = _user_id(user_id) or ("" if _number(number) else _user_id(number)) or _user_id(contact.get("user_id"))
    if not external_id and not own:
        return None
    phone = f"+{external_id}" if external_id and len(external_id) <= LONGEST_PHONE else ""
    if not contact:
        return Person(external_id=external_id, user_id=own, phone=phone)
    profile = row(contact.get("profile"))
    name, username = text(profile.get("name")), text(profile.get("username")) or text(contact.get("username"))
    return Person(external_id=external_id, user_id=own, phone=phone, name=name, username=username)


def _number(value: object) -> str:
    if not isinstance(value, str) or not SHORTEST_NUMBER <= len(value) <= LONGEST_NUMBER:
        return ""
    return value if value.isascii() and value.isdecimal() else ""


def _user_id(value: object) -> str:
    return value if isinstance(value, str) and USER_ID.fullmatch(value) else ""


class Contacts:
    """The people that a notice describes beside its messages, found by either of their ids."""

    def __init__(self, contacts: list[Row]) -> None:
        self._by_id: dict[str, Row] = {}
        for contact in contacts:
            for name in ("wa_id", "user_id"):
                found = contact.get(name)
                if isinstance(found, str) and found:
                    self._by_id[found] = contact

    def person(self, number: object, user_id: object = None) -> Person | None:
        if not self._by_id:
            return whatsapp_person(number, user_id)
        return whatsapp_person(number, user_id, self._known(number) or self._known(user_id))

    def _known(self, id: object) -> Row:
        return self._by_id.get(id, NOBODY) if isinstance(id, str) else NOBODY


# Above this a time is in milliseconds, otherwise in seconds.
LAST_SECOND: Final = 100_000_000_000
LONGEST_MESSAGE: Final = 65_536
LONGEST_ID: Final = 512
LONGEST_ADDRESS: Final = 4_096
LONGEST_VALUE: Final = 1_000
MOST_ITEMS: Final = 30
DEEPEST: Final = 5


def moment(value: object) -> datetime | None:
    """Parse seconds or milliseconds since 1970, from an integer or from digits."""
    return _moment(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


@lru_cache(maxsize=10_000)
def _moment(value: str | int) -> datetime | None:
    """Cached, because facts that arrive together share few distinct seconds."""
    found = number(value)
    if found is None or not 0 < found < LAST_SECOND * 1000:
        return None
    return datetime.fromtimestamp(found / 1000 if found >= LAST_SECOND else found, UTC)


def address(value: object) -> str:
    """Return an http or https address; empty for any other or a too long value."""
    found = text(value, LONGEST_ADDRESS + 1)
    return found if found.startswith(("https://", "http://")) and len(found) <= LONGEST_ADDRESS else ""


def truncate_json(value: object, depth: int = DEEPEST) -> Any:
    """Copy any JSON so that a column can hold it: texts, lists and nesting are cut to limits."""
    if isinstance(value, str):
        return text(value, LONGEST_VALUE)
    if isinstance(value, bool | int | None):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth == 0:
        return None
    if isinstance(value, dict):
        return {text(key, 100): truncate_json(item, depth - 1) for key, item in list(value.items())[:MOST_ITEMS]}
    return [truncate_json(item, depth - 1) for item in value[:MOST_ITEMS]] if isinstance(value, list) else None


class FactOrigin(TypedDict):
    """What every fact about a conversation says."""

    channel: ChannelReference
    person: Person
    at: datetime


def drop_empty(**values: object) -> dict[str, object]:
    """Return only values with content: no empty text, list or object, and no None."""
    return {name: value for name, value in values.items() if value not in ("", None, [], {})}


def error_of(value: object) -> tuple[str, str]:
    """Return the code and the text of a list's first error: its details, or its title."""
    error: Row = next(iter(rows(value)), {})
    details = text(row(error.get("error_data")).get("details"), LONGEST_VALUE)
    code = number(error.get("code"))
    return "" if code is None else str(code), details or text(error.get("title")) or text(error.get("message"))
