"""The person that a WhatsApp notice names: by number, by the id valid only at this business, or by both."""

import re
from typing import Final

from channelconnect.providers.graph.parsing import Row, row, text
from workspaces.conversations.facts import Person

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
