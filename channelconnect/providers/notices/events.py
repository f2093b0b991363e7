"""What notices tell about accounts. What they tell about conversations are `workspaces.conversations.facts`.

`account_id` is a channel's external id, `container_id` its business account or Page. Where a notice does not name one
of them, it is empty.
"""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderEvent:
    """`platform` is whatsapp, facebook or instagram; empty where the notice is about permissions in general."""

    platform: str
    account_id: str = ""
    container_id: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountLost(ProviderEvent):
    """We may no longer act for the account, or for all of its container; `reason` is the provider's term."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityChanged(ProviderEvent):
    """A number's quality moved; the notice names it by its `shown` number alone.

    `quality` is empty where the notice says nothing about it; `messaging_limit` counts with `has_limit` alone, and None
    is no limit. `throughput` is empty where the notice says nothing about it.
    """

    shown: str
    event: str
    throughput: str = ""
    quality: str = ""
    messaging_limit: int | None = None
    has_limit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitChanged(ProviderEvent):
    """The portfolio may reach so many people a day; None is no limit."""

    messaging_limit: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateChanged(ProviderEvent):
    """Something about a message template of a business account changed.

    `what` is status, quality, category or components; `value` is the provider's term for what it is now (APPROVED,
    GREEN, MARKETING), empty for components; `reason` its reason or title.
    """

    template_id: str
    name: str
    language: str
    what: str
    value: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(ProviderEvent):
    """Something else, or about nobody; to be counted and left alone."""

    kind: str
