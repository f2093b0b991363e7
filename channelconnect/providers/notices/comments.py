"""Reads comments on the posts of Pages and Instagram accounts.

A Page reports additions, edits and removals. Instagram reports only additions. The person's id is the one by which the
person can be written to. Comments of the account itself are only counted.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from channelconnect.providers.notices.events import ProviderEvent, Unknown
from channelconnect.providers.notices.values import FactOrigin, address, drop_empty, moment
from channelconnect.providers.parsing import Row, ident, row, text
from workspaces.conversations.facts import (
    LONGEST_COMMENT,
    ChannelReference,
    CommentEdited,
    CommentReceived,
    CommentRemoved,
    ConversationFact,
    Person,
)

Fact = ConversationFact | ProviderEvent
# A comment's id is a number, or those of its post and itself. It becomes a part of addresses.
COMMENT_ID: Final = re.compile(r"[0-9]{1,32}(?:_[0-9]{1,32}){0,2}", re.ASCII)
# The networks' names of the changes that may be comments.
PAGE_FIELDS: Final = frozenset({"feed"})
INSTAGRAM_FIELDS: Final = frozenset({"comments", "live_comments"})


@dataclass(frozen=True, slots=True)
class Change:
    """A change of an account's posts. `at` is the time for facts without a time of their own."""

    channel: ChannelReference
    account_id: str
    value: Row
    at: datetime


def read_change(field: str, change: Change) -> Iterator[Fact]:
    """Yield the facts of one change. Likes, posts, mentions in captions and the like are only counted."""
    if change.channel.platform == "facebook" and field in PAGE_FIELDS:
        fact, kind = _of_page(change), f"{field}.{text(change.value.get('item'), 40)}"
    elif change.channel.platform == "instagram" and field in INSTAGRAM_FIELDS:
        fact, kind = _of_instagram(change), f"{field}.nobody"
    else:
        fact, kind = None, field
    yield fact or Unknown(platform=change.channel.platform, account_id=change.account_id, kind=kind)


def _of_page(change: Change) -> Fact | None:
    value = change.value
    read = VERBS.get(text(value.get("verb")))
    comment = comment_id(value.get("comment_id"))
    author = row(value.get("from"))
    person = Person(external_id=ident(author.get("id")), name=text(author.get("name")))
    is_own = person.external_id == change.account_id
    if value.get("item") != "comment" or read is None or not comment or is_own:
        return None
    at = moment(value.get("created_time")) or change.at
    return read(change, comment, {"channel": change.channel, "person": person, "at": at})


def _added(change: Change, comment: str, who: FactOrigin) -> Fact | None:
    """Read a new comment. Its parent is the post, or the comment that it answers."""
    value, post = change.value, comment_id(change.value.get("post_id"))
    parent = comment_id(value.get("parent_id"))
    if not who["person"].external_id:
        return None
    permalink = address(row(value.get("post")).get("permalink_url"))
    return CommentReceived(
        **who,
        comment_id=comment,
        post_id=post,
        parent_id=parent if parent != post else "",
        text=text(value.get("message"), LONGEST_COMMENT),
        details=drop_empty(permalink=permalink),
    )


def _edited(change: Change, comment: str, who: FactOrigin) -> Fact:
    """Read an edit. Its time is the notice's, because `created_time` may be that of the comment."""
    written = text(change.value.get("message"), LONGEST_COMMENT)
    return CommentEdited(channel=who["channel"], person=who["person"], at=change.at, comment_id=comment, text=written)


def _removed(change: Change, comment: str, who: FactOrigin) -> Fact:
    return CommentRemoved(channel=who["channel"], person=who["person"], at=change.at, comment_id=comment)


VERBS: Final[dict[str, Callable[[Change, str, FactOrigin], Fact | None]]] = {
    "add": _added,
    "edit": _edited,
    "edited": _edited,
    "remove": _removed,
    "delete": _removed,
}


def _of_instagram(change: Change) -> Fact | None:
    """Read a comment. A comment on an advertisement counts for the post from which the advertisement was made."""
    value, author, media = change.value, row(change.value.get("from")), row(change.value.get("media"))
    comment, person = comment_id(value.get("id")), ident(author.get("id"))
    is_own = person == change.account_id or bool(author.get("self_ig_scoped_id"))
    if not comment or not person or is_own:
        return None
    return CommentReceived(
        channel=change.channel,
        person=Person(external_id=person, username=text(author.get("username"))),
        at=change.at,
        comment_id=comment,
        post_id=ident(media.get("original_media_id")) or ident(media.get("id")),
        parent_id=comment_id(value.get("parent_id")),
        text=text(value.get("text"), LONGEST_COMMENT),
        details=drop_empty(media=text(media.get("media_product_type"), 40).lower(), ad=ident(media.get("ad_id"))),
    )


def comment_id(value: object) -> str:
    """Return the id of a comment or post, or an empty text."""
    found = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return found if COMMENT_ID.fullmatch(found) else ""
