"""Reads a callback's body: any number of entries of several kinds, in any order. It takes no field for granted."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import orjson

from channelconnect.providers.notices.events import AccountAccessChanged, ProviderEvent, ReadContext, Unknown
from channelconnect.providers.notices.pages import read_page_entry
from channelconnect.providers.notices.values import moment
from channelconnect.providers.notices.whatsapp import read_whatsapp_entry
from channelconnect.providers.parsing import Row, ident, row, rows, text
from workspaces.conversations.facts import ConversationFact


def json_of(body: bytes) -> object:
    """Parse a body. Half a character, from a broken text, becomes a question mark.

    Otherwise one such message would cost the whole batch. Raises `ValueError` if it is not JSON.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        pass
    try:
        mended = json.dumps(json.loads(body), ensure_ascii=False)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return orjson.loads(mended.encode("utf-8", "replace"))


GONE: Final = {"revoke", "revoked", "remove", "removed", "disconnected"}


def read_permissions_entry(entry: Row, source: ReadContext) -> Iterator[ProviderEvent]:
    """Yield the accounts whose permission was revoked. A change that names no account tells nothing about any."""
    at = moment(entry.get("time")) or source.came_at
    for change in rows(entry.get("changes")):
        value, field = row(change.get("value")), text(change.get("field"))
        targets = value.get("target_ids")
        named = list(filter(None, map(ident, targets if isinstance(targets, list) else [])))
        if text(value.get("verb")) not in GONE or not named:
            yield Unknown(platform="", kind=f"permissions.{field}", at=at)
            continue
        for target in named:
            yield AccountAccessChanged(
                platform="", account_id=target, container_id=target, at=at, reason=f"{field} revoked"
            )


Fact = ConversationFact | ProviderEvent

READERS: Final[dict[str, Callable[[Row, ReadContext], Iterator[Fact]]]] = {
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


def read_notice(notice: Row, source: ReadContext) -> list[Fact]:
    """Return the facts of a body in its order. Strange entries, and those of unknown channels, become `Unknown`."""
    kind = text(notice.get("object"))
    read = READERS.get(kind)
    if read is None:
        return [Unknown(platform="", kind=kind)]
    return [_not_ahead(fact, source) for entry in rows(notice.get("entry")) for fact in read(entry, source)]


def _not_ahead(fact: Fact, source: ReadContext) -> Fact:
    """Move a fact's time back to its arrival if it lies after it. Otherwise no later fact could count after it."""
    is_ahead = fact.at is not None and fact.at > source.came_at
    return replace(fact, at=source.came_at) if is_ahead else fact
