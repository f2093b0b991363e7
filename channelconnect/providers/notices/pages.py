"""Reads Messenger's and Instagram's entries."""

from collections.abc import Iterator

from channelconnect.providers.notices.events import Echo, InboundMessage, PersonRead, ProviderEvent, Unknown
from channelconnect.providers.notices.values import LONGEST_ID, LONGEST_MESSAGE, moment
from channelconnect.providers.parsing import Row, ident, row, rows, text, texts


def read_page_entry(entry: Row, platform: str) -> Iterator[ProviderEvent]:
    """Give the events of a Page's or an Instagram account's entry; what another app is handling (`standby`) too."""
    account_id = ident(entry.get("id"))
    for event in [*rows(entry.get("messaging")), *rows(entry.get("standby"))]:
        yield _event(event, account_id, platform)
    for change in rows(entry.get("changes")):
        yield Unknown(platform=platform, account_id=account_id, container_id=account_id, kind=text(change.get("field")))


def _event(event: Row, id: str, platform: str) -> ProviderEvent:
    message = row(event.get("message"))
    if message.get("is_echo") is True:
        return _echo(event, message, id, platform)
    if message:
        return _message(event, message, id, platform)
    if "delivery" in event:
        return _read_up_to(event, row(event.get("delivery")), "delivered", id, platform)
    if "read" in event:
        return _read_up_to(event, row(event.get("read")), "read", id, platform)
    if "postback" in event:
        return _postback(event, row(event.get("postback")), id, platform)
    kind = next((name for name in event if name not in {"sender", "recipient", "timestamp"}), "")
    return Unknown(platform=platform, account_id=id, container_id=id, kind=text(kind))


def _echo(event: Row, message: Row, id: str, platform: str) -> Echo:
    return Echo(
        platform=platform,
        account_id=id,
        container_id=id,
        at=moment(event.get("timestamp")),
        message_id=text(message.get("mid"), LONGEST_ID),
        person=ident(row(event.get("recipient")).get("id")),
        app_id=ident(message.get("app_id")),
        opaque=text(message.get("metadata"), LONGEST_ID),
    )


def _message(event: Row, message: Row, id: str, platform: str) -> InboundMessage:
    attachments = rows(message.get("attachments"))
    written = text(message.get("text"), LONGEST_MESSAGE)
    return InboundMessage(
        platform=platform,
        account_id=id,
        container_id=id,
        at=moment(event.get("timestamp")),
        message_id=text(message.get("mid"), LONGEST_ID),
        person=ident(row(event.get("sender")).get("id")),
        kind="text" if written else text(attachments[0].get("type") if attachments else "") or "unknown",
        text=written,
    )


def _postback(event: Row, postback: Row, id: str, platform: str) -> InboundMessage:
    return InboundMessage(
        platform=platform,
        account_id=id,
        container_id=id,
        at=moment(event.get("timestamp")),
        message_id=text(postback.get("mid"), LONGEST_ID),
        person=ident(row(event.get("sender")).get("id")),
        kind="postback",
        text=text(postback.get("title"), LONGEST_MESSAGE),
    )


def _read_up_to(event: Row, what: Row, status: str, id: str, platform: str) -> PersonRead:
    """Instagram names the message (`mid`), Messenger a moment (`watermark`) and, for deliveries, messages."""
    named = (*texts(what.get("mids")), text(what.get("mid"), LONGEST_ID))
    return PersonRead(
        platform=platform,
        account_id=id,
        container_id=id,
        at=moment(what.get("watermark")) or moment(event.get("timestamp")),
        person=ident(row(event.get("sender")).get("id")),
        status=status,
        message_ids=tuple(name[:LONGEST_ID] for name in named if name),
    )
