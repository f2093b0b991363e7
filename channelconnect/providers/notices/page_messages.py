"""Reads a message's contents on Messenger or Instagram: its text, its attachments, and the message that it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from channelconnect.providers.graph.parsing import Row, row, rows, text
from channelconnect.providers.notices.values import LONGEST_ID, LONGEST_MESSAGE, address, bounded, present
from workspaces.conversations.facts import MOST_FILES, ReceivedFile

FILES: Final = {"image": "image", "video": "video", "audio": "audio", "file": "document", "sticker": "sticker"}
# These are shown as a link, because posts and reels stay at the network.
SHARED: Final = {"share", "post", "reel", "ig_reel", "ig_post", "fallback", "template", "product"}
HEART: Final = "❤️"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContent:
    """A message's content in the form of `MessageReceived`. `others` are further files, each a message."""

    type: str
    text: str = ""
    file: ReceivedFile | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    others: "tuple[PageContent, ...]" = ()


def read_page_content(message: Row, event: Row) -> PageContent:
    """Return a message's content. Content that the network hides from us is unsupported."""
    written = text(message.get("text"), LONGEST_MESSAGE)
    attachments = rows(message.get("attachments"))[:MOST_FILES]
    if message.get("is_unsupported") is True or not (written or attachments):
        content = PageContent(type="unsupported", text=written, details={"unsupported": "unknown"})
    elif attachments:
        content = _attached(attachments, written)
    else:
        content = PageContent(type="text", text=written)
    around = _surroundings(message, event)
    if not around:
        return content
    return replace(content, details={**content.details, **around})


def _surroundings(message: Row, event: Row) -> dict[str, Any]:
    """Return the message or story that this one answers, and the referral that brought the person here."""
    reply = row(message.get("reply_to"))
    story = row(reply.get("story"))
    told = present(id=text(story.get("id"), LONGEST_ID), url=address(story.get("url")))
    return present(
        reply_to=text(reply.get("mid"), LONGEST_ID),
        story=present(kind="reply" if told else "", **told),
        referral=bounded(row(message.get("referral")) or row(event.get("referral"))),
    )


def _attached(attachments: list[Row], written: str) -> PageContent:
    """Return the first attachment with the text. Further files become `others`; other attachments go into `details`."""
    first, *others = attachments
    content = _attachment(first, written)
    files = tuple(_attachment(other, "") for other in others if _kind(other) in FILES)
    more = [present(type=_kind(other), url=_address(other)) for other in others if _kind(other) not in FILES]
    return replace(content, details={**content.details, **present(attachments=more)}, others=files)


def _attachment(attachment: Row, written: str) -> PageContent:
    kind = _kind(attachment)
    if kind in FILES:
        return PageContent(type=FILES[kind], text=written, file=_file(attachment))
    if kind == "story_mention":
        return _mention(attachment, written)
    if kind == "location":
        return _location(attachment, written)
    if kind == "like_heart":
        return PageContent(type="text", text=written or HEART)
    if kind in SHARED:
        return _shared(attachment, kind, written)
    return PageContent(type="unsupported", text=written, details={"unsupported": kind or "unknown"})


def _kind(attachment: Row) -> str:
    """A sticker is an image with a sticker id beside its address."""
    kind = text(attachment.get("type"))
    is_sticker = kind == "image" and row(attachment.get("payload")).get("sticker_id") is not None
    return "sticker" if is_sticker else kind


def _address(attachment: Row) -> str:
    return address(row(attachment.get("payload")).get("url")) or address(attachment.get("url"))


def _file(attachment: Row) -> ReceivedFile | None:
    reference = _address(attachment)
    return ReceivedFile(reference=reference) if reference else None


def _mention(attachment: Row, written: str) -> PageContent:
    """A story that mentions the account may be shown while it exists, but not stored."""
    url = _address(attachment)
    file = ReceivedFile(reference=url, may_be_kept=False) if url else None
    return PageContent(type="image", text=written, file=file, details={"story": present(kind="mention", url=url)})


def _location(attachment: Row, written: str) -> PageContent:
    payload = row(attachment.get("payload"))
    place = row(payload.get("coordinates"))
    title = text(attachment.get("title")) or text(payload.get("title"))
    found = present(latitude=bounded(place.get("lat")), longitude=bounded(place.get("long")), name=title)
    return PageContent(type="location", text=written or title, details={"location": found})


def _shared(attachment: Row, kind: str, written: str) -> PageContent:
    """A post, a reel or a link. Its title and address become the text if the person wrote none."""
    title = text(attachment.get("title")) or text(row(attachment.get("payload")).get("title"))
    url = _address(attachment)
    shown = written or "\n".join(filter(None, (title, url)))
    details = {"shared": present(type=kind, title=title, url=url)}
    if not shown:
        return PageContent(type="unsupported", details={"unsupported": kind})
    return PageContent(type="text", text=shown, details=details)
