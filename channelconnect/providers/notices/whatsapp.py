"""Reads WhatsApp's entries: messages, statuses, and what happens to business accounts, numbers and templates."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from channelconnect.providers.notices.events import (
    AccountLost,
    InboundMessage,
    LimitChanged,
    MessageStatus,
    ProviderEvent,
    QualityChanged,
    TemplateChanged,
    Unknown,
)
from channelconnect.providers.notices.values import LONGEST_ID, LONGEST_MESSAGE, moment, problems
from channelconnect.providers.parsing import Row, ident, number, recipients_per_day, row, rows, text

PLATFORM: Final = "whatsapp"
LOSSES: Final = {"PARTNER_REMOVED", "PARTNER_APP_UNINSTALLED", "ACCOUNT_DELETED", "DISABLED_UPDATE"}
STILL_THERE: Final = {"REINSTATE", "SCHEDULE_FOR_DISABLE"}
LIMITS: Final = ("max_daily_conversations_per_business", "max_daily_conversation_per_phone")


def read_whatsapp_entry(entry: Row) -> Iterator[ProviderEvent]:
    """Give the events of one business account's entry."""
    container_id, at = ident(entry.get("id")), moment(entry.get("time"))
    for change in rows(entry.get("changes")):
        field, value = text(change.get("field")), row(change.get("value"))
        read = READERS.get(field)
        found = list(read(value, container_id)) if read else [_unknown(field, container_id)]
        yield from (event if event.at else replace(event, at=at) for event in found)


def _unknown(kind: str, container_id: str) -> Unknown:
    return Unknown(platform=PLATFORM, container_id=container_id, kind=kind)


def _messages(value: Row, id: str) -> Iterator[ProviderEvent]:
    account_id = ident(row(value.get("metadata")).get("phone_number_id"))
    where: dict[str, Any] = {"platform": PLATFORM, "account_id": account_id, "container_id": id}
    for status in rows(value.get("statuses")):
        yield _status(status, where)
    names = {_person(contact): text(row(contact.get("profile")).get("name")) for contact in rows(value.get("contacts"))}
    for message in rows(value.get("messages")):
        yield _message(message, names, where)


def _person(contact: Row) -> str:
    """Give a person's number or, where the notice names them without it, their id with this business."""
    return text(contact.get("wa_id")) or text(contact.get("user_id"))


def _status(status: Row, where: dict[str, Any]) -> MessageStatus:
    pricing = row(status.get("pricing"))
    billable = pricing.get("billable")
    return MessageStatus(
        **where,
        at=moment(status.get("timestamp")),
        message_id=text(status.get("id"), LONGEST_ID),
        status=text(status.get("status")),
        person=text(status.get("recipient_id")) or text(status.get("recipient_user_id")),
        opaque=text(status.get("biz_opaque_callback_data"), LONGEST_ID),
        is_billable=billable if isinstance(billable, bool) else None,
        category=text(pricing.get("category")),
        problems=problems(status.get("errors")),
    )


def _message(message: Row, names: dict[str, str], where: dict[str, Any]) -> InboundMessage:
    person = text(message.get("from")) or text(message.get("from_user_id"))
    return InboundMessage(
        **where,
        at=moment(message.get("timestamp")),
        message_id=text(message.get("id"), LONGEST_ID),
        person=person,
        kind=text(message.get("type")) or "unknown",
        text=_written(message),
        person_name=names.get(person, ""),
        problems=problems(message.get("errors")),
    )


def _written(message: Row) -> str:
    """Give what was written or pressed, whatever the kind."""
    pressed = row(message.get("interactive"))
    candidates = (
        row(message.get("text")).get("body"),
        row(message.get("button")).get("text"),
        row(pressed.get("button_reply")).get("title"),
        row(pressed.get("list_reply")).get("title"),
        row(message.get(text(message.get("type")))).get("caption"),
    )
    return next((text(candidate, LONGEST_MESSAGE) for candidate in candidates if text(candidate)), "")


def _account_update(value: Row, id: str) -> Iterator[ProviderEvent]:
    """Some of these come under the portfolio's id and name the business account inside."""
    event = text(value.get("event"))
    container_id = ident(row(value.get("waba_info")).get("waba_id")) or id
    ban = text(row(value.get("ban_info")).get("waba_ban_state"))
    if event in LOSSES and ban not in STILL_THERE:
        yield AccountLost(platform=PLATFORM, container_id=container_id, reason=event)
    else:
        yield Unknown(platform=PLATFORM, container_id=container_id, kind=f"account_update.{event}")


def _quality(value: Row, id: str) -> Iterator[ProviderEvent]:
    tier = value.get("current_limit") or value.get("max_daily_conversations_per_business")
    yield QualityChanged(
        platform=PLATFORM,
        container_id=id,
        shown=text(value.get("display_phone_number")),
        event=text(value.get("event")),
        messaging_limit=recipients_per_day(tier) if tier else None,
        has_limit=bool(tier),
    )


def _capability(value: Row, id: str) -> Iterator[ProviderEvent]:
    """The limit comes as a tier's name or as a number, -1 for none."""
    limit = next((value[name] for name in LIMITS if name in value), None)
    if isinstance(limit, str) and limit.startswith("TIER_"):
        yield LimitChanged(platform=PLATFORM, container_id=id, messaging_limit=recipients_per_day(limit))
        return
    people = number(limit)
    if people is None:
        yield Unknown(platform=PLATFORM, container_id=id, kind="business_capability_update")
    else:
        yield LimitChanged(platform=PLATFORM, container_id=id, messaging_limit=None if people < 0 else people)


def _template(value: Row, id: str) -> Iterator[ProviderEvent]:
    yield TemplateChanged(
        platform=PLATFORM,
        container_id=id,
        template_id=ident(value.get("message_template_id")),
        name=text(value.get("message_template_name"), LONGEST_ID),
        language=text(value.get("message_template_language")),
        status=text(value.get("event")),
        reason=text(value.get("reason")),
    )


READERS: Final[dict[str, Callable[[Row, str], Iterator[ProviderEvent]]]] = {
    "messages": _messages,
    "account_update": _account_update,
    "phone_number_quality_update": _quality,
    "business_capability_update": _capability,
    "message_template_status_update": _template,
}
