"""The events. `account_id` is a channel's external id, `container_id` its business account or Page.

Where a notice does not name one of them, it is empty.
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
class Problem:
    """An error as the provider reports it."""

    code: int
    title: str = ""
    details: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStatus(ProviderEvent):
    """A message we sent moved on: sent, delivered, read, failed or played. `opaque` is what the send carried along."""

    message_id: str
    status: str
    person: str = ""
    opaque: str = ""
    is_billable: bool | None = None
    category: str = ""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRead(ProviderEvent):
    """A person has received or read (`status`) everything up to `at`, on Messenger or Instagram."""

    person: str
    status: str
    message_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMessage(ProviderEvent):
    """A person wrote, or pressed a button. `kind` is the provider's term; `person_name` WhatsApp's only."""

    message_id: str
    person: str
    kind: str
    text: str = ""
    person_name: str = ""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Echo(ProviderEvent):
    """A message that left through the Page, ours or another app's; `opaque` is its metadata."""

    message_id: str
    person: str
    app_id: str = ""
    opaque: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountLost(ProviderEvent):
    """We may no longer act for the account, or for all of its container; `reason` is the provider's term."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityChanged(ProviderEvent):
    """A number's quality moved; the notice names it by its `shown` number alone."""

    shown: str
    event: str
    messaging_limit: int | None = None
    has_limit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitChanged(ProviderEvent):
    """The portfolio may reach so many people a day; None is no limit."""

    messaging_limit: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateChanged(ProviderEvent):
    """A message template was approved, rejected, paused or disabled (`status`)."""

    template_id: str
    name: str
    language: str
    status: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(ProviderEvent):
    """Something else; to be counted and left alone."""

    kind: str
