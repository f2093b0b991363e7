"""Who a WhatsApp notice is about: by number, by the id that stands for them at this business alone, or by both."""

import re
from collections.abc import Iterable
from typing import Final

from channelconnect.providers.parsing import Row, row, text
from workspaces.conversations.facts import Person

NUMBER: Final = re.compile(r"[0-9]{5,20}", re.ASCII)
USER_ID: Final = re.compile(r"[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}", re.ASCII)
LONGEST_PHONE: Final = 15


def whatsapp_person(number: object, user_id: object = None, contact: Row | None = None) -> Person | None:
    """Put together what a notice names a person by; None is nobody.

    The business-scoped id may stand where a number is expected.
    """
    known = contact or {}
    profile = row(known.get("profile"))
    ids = (number, user_id, known.get("wa_id"), known.get("user_id"))
    external_id, own = _first(NUMBER, ids), _first(USER_ID, ids)
    if not external_id and not own:
        return None
    return Person(
        external_id=external_id,
        user_id=own,
        phone=f"+{external_id}" if external_id and len(external_id) <= LONGEST_PHONE else "",
        name=text(profile.get("name")),
        username=text(profile.get("username")) or text(known.get("username")),
    )


def _first(form: "re.Pattern[str]", candidates: Iterable[object]) -> str:
    for candidate in candidates:
        if isinstance(candidate, str) and form.fullmatch(candidate):
            return candidate
    return ""


class Contacts:
    """The people whom a notice describes beside its messages, by both of their ids."""

    def __init__(self, contacts: list[Row]) -> None:
        self._by_id: dict[str, Row] = {}
        for contact in contacts:
            for name in ("wa_id", "user_id"):
                found = contact.get(name)
                if isinstance(found, str) and found:
                    self._by_id[found] = contact

    def person(self, number: object, user_id: object = None) -> Person | None:
        contact = None
        if self._by_id:
            contact = self._known(number) or self._known(user_id)
        return whatsapp_person(number, user_id, contact)

    def _known(self, id: object) -> Row | None:
        return self._by_id.get(id) if isinstance(id, str) else None
