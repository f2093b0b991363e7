"""The accounts that a notice is about. Channels are looked up for many notices at once, before these are read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from channelconnect.providers.graph.parsing import Row, ident, row, rows, text
from workspaces.conversations.facts import ChannelReference

# A channel's platform and its id there.
Account = tuple[str, str]
Channels = Mapping[Account, ChannelReference]

PLATFORMS: Final = {"whatsapp_business_account": "whatsapp", "page": "facebook", "instagram": "instagram"}


@dataclass(frozen=True, slots=True)
class Source:
    """The context for reading an entry. `came_at` is the time for facts without a time of their own."""

    channels: Channels
    came_at: datetime


def accounts_in(notice: Row) -> Iterator[Account]:
    """Yield the accounts that a notice may be about, possibly with repeats."""
    platform = PLATFORMS.get(text(notice.get("object")))
    if platform is None:
        return
    for entry in rows(notice.get("entry")):
        ids = number_ids(entry) if platform == "whatsapp" else [ident(entry.get("id"))]
        for key in ids:
            if key:
                yield platform, key


def number_ids(entry: Row) -> Iterator[str]:
    for change in rows(entry.get("changes")):
        yield number_id(row(change.get("value")))


def number_id(value: Row) -> str:
    return ident(row(value.get("metadata")).get("phone_number_id"))
