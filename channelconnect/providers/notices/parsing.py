"""Reads a callback's body: any number of entries of several kinds, in any order, nothing of it taken for granted."""

from collections.abc import Callable, Iterator
from typing import Final

from channelconnect.providers.notices.bodies import json_of
from channelconnect.providers.notices.events import ProviderEvent, Unknown
from channelconnect.providers.notices.pages import read_page_entry
from channelconnect.providers.notices.permissions import read_permissions_entry
from channelconnect.providers.notices.whatsapp import read_whatsapp_entry
from channelconnect.providers.parsing import Row, row, rows, text

READERS: Final[dict[str, Callable[[Row], Iterator[ProviderEvent]]]] = {
    "whatsapp_business_account": read_whatsapp_entry,
    "page": lambda entry: read_page_entry(entry, "facebook"),
    "instagram": lambda entry: read_page_entry(entry, "instagram"),
    "permissions": read_permissions_entry,
}


class UnreadableNotices(ValueError):
    """The body is no JSON object."""


def read_notices(body: bytes) -> list[ProviderEvent]:
    """Give the events of a body in its order; whatever is odd in it is skipped or `Unknown`.

    Raises `UnreadableNotices`.
    """
    try:
        notice = json_of(body)
    except ValueError:
        raise UnreadableNotices("no JSON") from None
    if not isinstance(notice, dict):
        raise UnreadableNotices("no JSON object")
    kind = text(row(notice).get("object"))
    read = READERS.get(kind)
    if read is None:
        return [Unknown(platform="", kind=kind)]
    return [event for entry in rows(notice.get("entry")) for event in read(entry)]
