"""The accounts that a notice is about, and facts about accounts.

Facts about conversations are in `workspaces.conversations.facts`. `account_id` is a channel's external id, and
`container_id` its business account or Page. Each is empty if the notice does not name it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from channelconnect.providers.parsing import Row, ident, row, rows, text
from workspaces.conversations.facts import ChannelReference

# Channels are looked up for many notices at once, before these are read.

# A channel's platform and its id there.
AccountKey = tuple[str, str]
Channels = Mapping[AccountKey, ChannelReference]

PLATFORMS: Final = {"whatsapp_business_account": "whatsapp", "page": "facebook", "instagram": "instagram"}


@dataclass(frozen=True, slots=True)
class ReadContext:
    """The context for reading an entry. `came_at` is the time for facts without a time of their own."""

    channels: Channels
    came_at: datetime


def accounts_in(notice: Row) -> Iterator[AccountKey]:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEvent:
    """A fact about an account. `platform` is whatsapp, facebook or instagram; empty for permissions in general."""

    platform: str
    account_id: str = ""
    container_id: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountAccessChanged(ProviderEvent):
    """We may no longer act for the account, or for all accounts of its container. `reason` is the provider's term.

    Without `is_lost` we may act again for the accounts of a container, which the phone had taken away for a while.
    """

    reason: str
    is_lost: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryShared(ProviderEvent):
    """How far the chat history of a number has come, in percent, or why none comes.

    `error_code` is the provider's code. `is_declined` says that the owner does not share the history.
    """

    progress: int | None = None
    error_code: str = ""
    is_declined: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityChanged(ProviderEvent):
    """A number's quality has changed. The notice names the number only as `shown`.

    `quality` and `throughput` are empty if the notice does not mention them. `messaging_limit` counts only with
    `has_limit`, and None means no limit.
    """

    shown: str
    event: str
    throughput: str = ""
    quality: str = ""
    messaging_limit: int | None = None
    has_limit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitChanged(ProviderEvent):
    """A portfolio's daily limit of people has changed; None means no limit."""

    messaging_limit: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateChanged(ProviderEvent):
    """A business account's message template has changed.

    `what` is status, quality, category or components. `value` is the provider's term for the new state (APPROVED,
    GREEN, MARKETING), empty for components. `reason` is its reason or title.
    """

    template_id: str
    name: str
    language: str
    what: str
    value: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(ProviderEvent):
    """A fact of another kind, or about no known account. It is only counted."""

    kind: str
