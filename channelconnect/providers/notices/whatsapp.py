"""Reads WhatsApp's entries: changes of a number's conversations, and changes of a business account."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from channelconnect.providers.graph.parsing import Row, row, rows, text
from channelconnect.providers.notices.accounts import Source, number_id
from channelconnect.providers.notices.events import ProviderEvent, Unknown
from channelconnect.providers.notices.people import Contacts, whatsapp_person
from channelconnect.providers.notices.values import moment
from channelconnect.providers.notices.whatsapp_accounts import PLATFORM, read_account_change
from channelconnect.providers.notices.whatsapp_messages import read_message
from channelconnect.providers.notices.whatsapp_statuses import read_status
from workspaces.conversations.facts import (
    ChannelReference,
    ConversationFact,
    ConversationTouched,
    EchoReceived,
    IdentityChanged,
    MarketingPreferenceChanged,
    MessageReceived,
)

Fact = ConversationFact | ProviderEvent


@dataclass(frozen=True, slots=True)
class Number:
    """Our number that a change is about. `at` is the time for facts without a time of their own."""

    channel: ChannelReference
    contacts: Contacts
    at: datetime


def read_whatsapp_entry(entry: Row, source: Source) -> Iterator[Fact]:
    """Yield the facts of a business account's entry."""
    at = moment(entry.get("time")) or source.came_at
    for change in rows(entry.get("changes")):
        field, value = text(change.get("field")), row(change.get("value"))
        if field in NUMBER_READERS:
            yield from _of_number(field, value, source, at)
        else:
            yield from read_account_change(field, value, entry.get("id"), at)


def _of_number(field: str, value: Row, source: Source, at: datetime) -> Iterator[Fact]:
    account_id = number_id(value)
    channel = source.channels.get((PLATFORM, account_id))
    if channel is None:
        yield Unknown(platform=PLATFORM, account_id=account_id, kind="account")
        return
    number = Number(channel=channel, contacts=Contacts(rows(value.get("contacts"))), at=at)
    for fact in NUMBER_READERS[field](value, number):
        yield fact or Unknown(platform=PLATFORM, account_id=account_id, kind=f"{field}.nobody")


def _messages(value: Row, number: Number) -> Iterator[Fact | None]:
    for status in rows(value.get("statuses")):
        yield read_status(status, number.channel, number.contacts, number.at)
    for message in rows(value.get("messages")):
        yield read_message(message, number.channel, number.contacts, number.at)


def _echoes(value: Row, number: Number) -> Iterator[Fact | None]:
    """Read messages that the business wrote in WhatsApp's own app. The person is the receiver."""
    for message in rows(value.get("message_echoes")):
        turned = {**message, "from": message.get("to"), "from_user_id": message.get("to_user_id")}
        found = read_message(turned, number.channel, number.contacts, number.at)
        yield _as_echo(found) if type(found) is MessageReceived else found


def _as_echo(message: MessageReceived) -> EchoReceived:
    return EchoReceived(
        channel=message.channel,
        person=message.person,
        at=message.at,
        message_id=message.message_id,
        type=message.type,
        text=message.text,
        file=message.file,
        details=message.details,
    )


def _calls(value: Row, number: Number) -> Iterator[Fact | None]:
    """Read calls. A call by the person opens the window; a call by the business does not."""
    for call in rows(value.get("calls")):
        if text(call.get("direction")) == "BUSINESS_INITIATED":
            continue
        person = number.contacts.person(call.get("from"), call.get("from_user_id"))
        at = moment(call.get("timestamp")) or number.at
        yield ConversationTouched(channel=number.channel, person=person, at=at, kind="call") if person else None


def _preferences(value: Row, number: Number) -> Iterator[Fact | None]:
    for preference in rows(value.get("user_preferences")):
        person = number.contacts.person(preference.get("wa_id"), preference.get("user_id"))
        wanted = WANTS_MARKETING.get(text(preference.get("value")))
        if person is None or wanted is None or text(preference.get("category")) != "marketing_messages":
            yield None
            continue
        at = moment(preference.get("timestamp")) or number.at
        yield MarketingPreferenceChanged(channel=number.channel, person=person, at=at, wants_marketing=wanted)


def _user_ids(value: Row, number: Number) -> Iterator[Fact | None]:
    """Read changed ids. The id is in `user_id_update` or beside it. A number belongs to the old and to the new id."""
    updates = value.get("user_id_update")
    for update in rows(updates if isinstance(updates, list) else [updates]):
        ids = row(update.get("user_id")) or update
        wa_id = update.get("wa_id")
        person = whatsapp_person(wa_id, ids.get("previous"))
        becomes = number.contacts.person(wa_id, ids.get("current"))
        if person is None or becomes is None:
            yield None
            continue
        at = moment(update.get("timestamp")) or number.at
        yield IdentityChanged(channel=number.channel, person=person, at=at, becomes=becomes)


WANTS_MARKETING: Final = {"stop": False, "resume": True}
NUMBER_READERS: Final[dict[str, Callable[[Row, Number], Iterator[Fact | None]]]] = {
    "messages": _messages,
    "standby": _messages,
    "smb_message_echoes": _echoes,
    "calls": _calls,
    "user_preferences": _preferences,
    "user_id_update": _user_ids,
}
