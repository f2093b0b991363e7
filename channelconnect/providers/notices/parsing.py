"""Reads a callback's body: any number of entries of several kinds, in any order. It takes no field for granted."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from channelconnect.providers.graph.parsing import Row, rows, text
from channelconnect.providers.notices.accounts import Source
from channelconnect.providers.notices.bodies import json_of
from channelconnect.providers.notices.events import ProviderEvent, Unknown
from channelconnect.providers.notices.pages import read_page_entry
from channelconnect.providers.notices.permissions import read_permissions_entry
from channelconnect.providers.notices.whatsapp import read_whatsapp_entry
from workspaces.conversations.facts import ConversationFact

Fact = ConversationFact | ProviderEvent

READERS: Final[dict[str, Callable[[Row, Source], Iterator[Fact]]]] = {
    "whatsapp_business_account": read_whatsapp_entry,
    "page": lambda entry, source: read_page_entry(entry, "facebook", source),
    "instagram": lambda entry, source: read_page_entry(entry, "instagram", source),
    "permissions": read_permissions_entry,
}


class UnreadableNotices(ValueError):
    """The body is not a JSON object."""


def notice_of(body: bytes) -> Row:
    """Parse a body. Raises `UnreadableNotices`."""
    try:
        notice = json_of(body)
    except ValueError:
        raise UnreadableNotices("no JSON") from None
    if not isinstance(notice, dict):
        raise UnreadableNotices("no JSON object")
    return notice


def read_notice(notice: Row, source: Source) -> list[Fact]:
    """Return the facts of a body in its order. Strange entries, and those of unknown channels, become `Unknown`."""
    kind = text(notice.get("object"))
    read = READERS.get(kind)
    if read is None:
        return [Unknown(platform="", kind=kind)]
    return [_not_ahead(fact, source) for entry in rows(notice.get("entry")) for fact in read(entry, source)]


def _not_ahead(fact: Fact, source: Source) -> Fact:
    """Move a fact's time back to its arrival if it lies after it. Otherwise no later fact could count after it."""
    is_ahead = fact.at is not None and fact.at > source.came_at
    return replace(fact, at=source.came_at) if is_ahead else fact
