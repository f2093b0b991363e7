"""Reads WhatsApp's entries: statuses of messages, changes of conversations, accounts, numbers and templates."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from channelconnect.providers.notices.events import (
    AccountAccessChanged,
    HistoryShared,
    LimitChanged,
    ProviderEvent,
    QualityChanged,
    ReadContext,
    TemplateChanged,
    Unknown,
    number_id,
)
from channelconnect.providers.notices.values import LONGEST_ID, Contacts, error_of, moment, whatsapp_person
from channelconnect.providers.notices.whatsapp_messages import CHANGES, read_content, read_message
from channelconnect.providers.parsing import Row, ident, recipients_per_day, row, rows, text
from channelconnect.providers.parsing import number as parsed_number
from workspaces.conversations.facts import (
    ChannelReference,
    ContactListed,
    ConversationFact,
    ConversationTouched,
    EchoReceived,
    IdentityChanged,
    MarketingPreferenceChanged,
    MessageReceived,
    PastMessage,
    Person,
    StatusChanged,
)

PLATFORM: Final = "whatsapp"
# When the WhatsApp Business app moves to another phone, its number is offboarded, and comes back by itself.
LOSSES: Final = {
    "PARTNER_REMOVED",
    "PARTNER_APP_UNINSTALLED",
    "ACCOUNT_DELETED",
    "ACCOUNT_OFFBOARDED",
    "DISABLED_UPDATE",
}
STILL_THERE: Final = {"REINSTATE", "SCHEDULE_FOR_DISABLE"}
LIMITS: Final = ("max_daily_conversations_per_business", "max_daily_conversation_per_phone")
# A flagged number has low quality. An unflagged number has medium or high quality; the notice does not say which.
QUALITIES: Final = {"FLAGGED": "RED", "UNFLAGGED": "YELLOW"}
# The field of a template's notice with the new state, by kind of notice.
TEMPLATE_VALUES: Final = {
    "status": "event",
    "quality": "new_quality_score",
    "category": "new_category",
    "components": "",
}


def read_account_change(field: str, value: Row, entry_id: object, at: datetime) -> Iterator[ProviderEvent]:
    """Yield the events of one change of a business account."""
    container_id = ident(entry_id)
    read = READERS.get(field)
    if read is None:
        yield Unknown(platform=PLATFORM, container_id=container_id, kind=field, at=at)
        return
    for event in read(value, container_id):
        yield replace(event, at=at)


def _account_update(value: Row, id: str) -> Iterator[ProviderEvent]:
    """Read an account's update. Some come under the portfolio's id and name the business account inside."""
    event = text(value.get("event"))
    container_id = ident(row(value.get("waba_info")).get("waba_id")) or id
    ban = text(row(value.get("ban_info")).get("waba_ban_state"))
    if event in LOSSES and ban not in STILL_THERE:
        yield AccountAccessChanged(platform=PLATFORM, container_id=container_id, reason=event)
    elif event == "ACCOUNT_RECONNECTED":
        yield AccountAccessChanged(platform=PLATFORM, container_id=container_id, reason=event, is_lost=False)
    else:
        yield Unknown(platform=PLATFORM, container_id=container_id, kind=f"account_update.{event}")


def _quality(value: Row, id: str) -> Iterator[ProviderEvent]:
    tier = value.get("current_limit") or value.get("max_daily_conversations_per_business")
    event = text(value.get("event"))
    yield QualityChanged(
        platform=PLATFORM,
        container_id=id,
        shown=text(value.get("display_phone_number")),
        event=event,
        quality=QUALITIES.get(event, ""),
        throughput="HIGH" if event == "THROUGHPUT_UPGRADE" else "",
        messaging_limit=recipients_per_day(tier) if tier else None,
        has_limit=bool(tier),
    )


def _capability(value: Row, id: str) -> Iterator[ProviderEvent]:
    """Read a portfolio's limit. It comes as the name of a tier or as a number; -1 means no limit."""
    limit = next((value[name] for name in LIMITS if name in value), None)
    if isinstance(limit, str) and limit.startswith("TIER_"):
        yield LimitChanged(platform=PLATFORM, container_id=id, messaging_limit=recipients_per_day(limit))
        return
    people = parsed_number(limit)
    if people is None:
        yield Unknown(platform=PLATFORM, container_id=id, kind="business_capability_update")
    else:
        yield LimitChanged(platform=PLATFORM, container_id=id, messaging_limit=None if people < 0 else people)


def _template(what: str) -> Callable[[Row, str], Iterator[ProviderEvent]]:
    def read(value: Row, id: str) -> Iterator[ProviderEvent]:
        yield TemplateChanged(
            platform=PLATFORM,
            container_id=id,
            template_id=ident(value.get("message_template_id")),
            name=text(value.get("message_template_name"), LONGEST_ID),
            language=text(value.get("message_template_language")),
            what=what,
            value=text(value.get(TEMPLATE_VALUES[what])),
            reason=text(value.get("reason")) or text(row(value.get("other_info")).get("title")),
        )

    return read


READERS: Final[dict[str, Callable[[Row, str], Iterator[ProviderEvent]]]] = {
    "account_update": _account_update,
    "phone_number_quality_update": _quality,
    "business_capability_update": _capability,
    "message_template_status_update": _template("status"),
    "message_template_quality_update": _template("quality"),
    "template_category_update": _template("category"),
    "message_template_components_update": _template("components"),
}


# A voice message that was played counts as read. Any other status (deleted, warning) changes no message of ours.
STATUSES: Final = {"sent": "sent", "delivered": "delivered", "read": "read", "played": "read", "failed": "failed"}


def read_status(
    status: Row, channel: ChannelReference, contacts: Contacts, at: datetime
) -> StatusChanged | Unknown | None:
    """Return a status as a fact; None if it names no message or nobody."""
    name = status.get("status")
    known = STATUSES.get(name) if isinstance(name, str) else None
    if known is None:
        return Unknown(platform="whatsapp", kind=f"status.{text(name)}")
    if status.get("recipient_type") == "group":
        return Unknown(platform="whatsapp", kind="group")
    message_id, opaque = text(status.get("id"), LONGEST_ID), text(status.get("biz_opaque_callback_data"), LONGEST_ID)
    person = contacts.person(status.get("recipient_id"), status.get("recipient_user_id"))
    if person is None or not (message_id or opaque):
        return None
    pricing = row(status.get("pricing"))
    billable = pricing.get("billable")
    code, message = error_of(status.get("errors")) if known == "failed" else ("", "")
    return StatusChanged(
        channel=channel,
        person=person,
        at=moment(status.get("timestamp")) or at,
        message_id=message_id,
        status=known,
        opaque=opaque,
        error_code=code,
        error_message=message,
        is_billable=billable if isinstance(billable, bool) else None,
        category=text(pricing.get("category")),
    )


Fact = ConversationFact | ProviderEvent


@dataclass(frozen=True, slots=True)
class OwnNumber:
    """Our number that a change is about. `at` is the time for facts without a time of their own.

    `shown` is the number as people write it.
    """

    channel: ChannelReference
    contacts: Contacts
    at: datetime
    account_id: str = ""
    shown: str = ""


def read_whatsapp_entry(entry: Row, source: ReadContext) -> Iterator[Fact]:
    """Yield the facts of a business account's entry."""
    at = moment(entry.get("time")) or source.came_at
    for change in rows(entry.get("changes")):
        field, value = text(change.get("field")), row(change.get("value"))
        if field in NUMBER_READERS:
            yield from _of_number(field, value, source, at)
        else:
            yield from read_account_change(field, value, entry.get("id"), at)


def _of_number(field: str, value: Row, source: ReadContext, at: datetime) -> Iterator[Fact]:
    account_id = number_id(value)
    channel = source.channels.get((PLATFORM, account_id))
    if channel is None:
        yield Unknown(platform=PLATFORM, account_id=account_id, kind="account")
        return
    number = OwnNumber(
        channel=channel,
        contacts=Contacts(rows(value.get("contacts"))),
        at=at,
        account_id=account_id,
        shown=text(row(value.get("metadata")).get("display_phone_number")),
    )
    for fact in NUMBER_READERS[field](value, number):
        yield fact or Unknown(platform=PLATFORM, account_id=account_id, kind=f"{field}.nobody")


def _messages(value: Row, number: OwnNumber) -> Iterator[Fact | None]:
    for status in rows(value.get("statuses")):
        yield read_status(status, number.channel, number.contacts, number.at)
    for message in rows(value.get("messages")):
        yield read_message(message, number.channel, number.contacts, number.at)


def _echoes(value: Row, number: OwnNumber) -> Iterator[Fact | None]:
    """Read messages that the business wrote in WhatsApp's own app. The person is the receiver."""
    for message in rows(value.get("message_echoes")):
        if text(message.get("type")) in NOT_ECHOED:
            yield Unknown(platform=PLATFORM, account_id=number.account_id, kind="echo of another action")
            continue
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


# These would count as actions of the contact.
NOT_ECHOED: Final = {"reaction", "system"}
# What the phone's history says of a message that it has sent. A message that waits on the phone counts as sent.
PAST_STATUSES: Final = {"DELIVERED": "delivered", "READ": "read", "PLAYED": "read", "ERROR": "failed"}
# WhatsApp's code for an owner who does not share the history.
DECLINED: Final = "2593109"
NO_DIGIT: Final = re.compile(r"\D")


def _history(value: Row, number: OwnNumber) -> Iterator[Fact | None]:
    """Read a part of the chat history: threads, or, later, the contents of messages with files."""
    for part in rows(value.get("history")):
        yield from _progress(part, number)
        for thread in rows(part.get("threads")):
            person = number.contacts.person(thread.get("id"), thread.get("user_id"))
            for message in rows(thread.get("messages")):
                yield _past(message, number, person)
    for message in rows(value.get("messages")):
        is_own = _is_own(message, number)
        ids = ("to", "to_user_id") if is_own else ("from", "from_user_id")
        yield _past(message, number, number.contacts.person(*map(message.get, ids)) or Person())


def _progress(part: Row, number: OwnNumber) -> Iterator[HistoryShared]:
    done = parsed_number(row(part.get("metadata")).get("progress"))
    codes = [str(code) for one in rows(part.get("errors")) if (code := parsed_number(one.get("code"))) is not None]
    if done is not None and 0 <= done <= 100:
        yield HistoryShared(platform=PLATFORM, account_id=number.account_id, at=number.at, progress=done)
    if codes:
        yield HistoryShared(
            platform=PLATFORM,
            account_id=number.account_id,
            at=number.at,
            error_code=codes[0][:20],
            is_declined=DECLINED in codes,
        )


def _past(message: Row, number: OwnNumber, person: Person | None) -> Fact | None:
    """Read a message of the history. Edits and reactions are left out: the history has what became of a message."""
    found = text(message.get("id"), LONGEST_ID)
    if person is None or not found or message.get("group_id"):
        return None
    if text(message.get("type")) in CHANGES:
        return Unknown(platform=PLATFORM, account_id=number.account_id, kind="change in the history")
    content, is_own = read_content(message), _is_own(message, number)
    told = text(row(message.get("history_context")).get("status"))
    return PastMessage(
        channel=number.channel,
        person=person,
        at=moment(message.get("timestamp")) or number.at,
        message_id=found,
        type=content.type,
        text=content.text,
        file=content.file,
        details=content.details,
        direction="out" if is_own else "in",
        status=PAST_STATUSES.get(told, "sent") if is_own else "received",
    )


def _is_own(message: Row, number: OwnNumber) -> bool:
    """Say whether the business has sent a message. Only its own messages name a receiver."""
    own = NO_DIGIT.sub("", number.shown)
    return "to" in message or (own != "" and NO_DIGIT.sub("", text(message.get("from"))) == own)


def _address_book(value: Row, number: OwnNumber) -> Iterator[Fact | None]:
    """Read entries of the phone's address book. An entry that is removed there changes nothing here."""
    for entry in rows(value.get("state_sync")):
        if text(entry.get("type")) != "contact" or text(entry.get("action")) != "add":
            yield Unknown(platform=PLATFORM, account_id=number.account_id, kind="state_sync")
            continue
        contact = row(entry.get("contact"))
        person = whatsapp_person(text(contact.get("phone_number")).removeprefix("+"), contact.get("user_id"))
        name = text(contact.get("full_name")) or text(contact.get("first_name"))
        at = moment(row(entry.get("metadata")).get("timestamp")) or number.at
        yield ContactListed(channel=number.channel, person=replace(person, name=name), at=at) if person else None


def _calls(value: Row, number: OwnNumber) -> Iterator[Fact | None]:
    """Read calls. A call by the person opens the window; a call by the business does not."""
    for call in rows(value.get("calls")):
        if text(call.get("direction")) == "BUSINESS_INITIATED":
            continue
        person = number.contacts.person(call.get("from"), call.get("from_user_id"))
        at = moment(call.get("timestamp")) or number.at
        yield ConversationTouched(channel=number.channel, person=person, at=at, kind="call") if person else None


def _preferences(value: Row, number: OwnNumber) -> Iterator[Fact | None]:
    for preference in rows(value.get("user_preferences")):
        person = number.contacts.person(preference.get("wa_id"), preference.get("user_id"))
        wanted = WANTS_MARKETING.get(text(preference.get("value")))
        if person is None or wanted is None or text(preference.get("category")) != "marketing_messages":
            yield None
            continue
        at = moment(preference.get("timestamp")) or number.at
        yield MarketingPreferenceChanged(channel=number.channel, person=person, at=at, wants_marketing=wanted)


def _user_ids(value: Row, number: OwnNumber) -> Iterator[Fact | None]:
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
NUMBER_READERS: Final[dict[str, Callable[[Row, OwnNumber], Iterator[Fact | None]]]] = {
    "messages": _messages,
    "standby": _messages,
    "smb_message_echoes": _echoes,
    "smb_app_state_sync": _address_book,
    "history": _history,
    "calls": _calls,
    "user_preferences": _preferences,
    "user_id_update": _user_ids,
}
