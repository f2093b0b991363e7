"""Stores comments of people, and applies edits and removals of comments."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from django.db import connection

from config.postgresql.arrays import integers, texts, timestamps
from workspaces.contacts.services.channel_people import ChannelPerson, find_or_create_contacts
from workspaces.conversations.facts import (
    LONGEST_COMMENT,
    CommentEdited,
    CommentReceived,
    CommentRemoved,
    storable,
    storable_json,
)
from workspaces.conversations.services.inbound.conversations import channel_person, has_id
from workspaces.conversations.services.registries import IncomingComment, received_comment_handlers

# The networks take a private reply for so long after the comment.
PRIVATE_REPLY_WITHIN: Final = timedelta(days=7)

INSERT: Final = """
INSERT INTO conversations_comment (workspace_id, channel_id, contact_id, comment_id, parent_id, post_id, text, details,
    at, created_at)
SELECT new.workspace_id, new.channel_id, new.contact_id, new.comment_id, new.parent_id, new.post_id, new.text,
    new.details::jsonb, new.at, %s
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[],
    %s::timestamptz[]) AS new (workspace_id, channel_id, contact_id, comment_id, parent_id, post_id, text, details, at)
ON CONFLICT (channel_id, comment_id) DO NOTHING
RETURNING channel_id, comment_id, id, contact_id, (
    SELECT conversation.id FROM conversations_conversation AS conversation
    WHERE conversation.contact_id = conversations_comment.contact_id
        AND conversation.channel_id = conversations_comment.channel_id)
"""
EDIT: Final = """
UPDATE conversations_comment AS comment SET text = told.text, edited_at = told.at
FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::timestamptz[]) AS told (channel_id, comment_id, text, at)
WHERE comment.channel_id = told.channel_id AND comment.comment_id = told.comment_id AND comment.removed_at IS NULL
    AND told.at >= coalesce(comment.edited_at, comment.at)
"""
# The row of an unknown comment keeps the comment from coming later.
REMOVE: Final = """
INSERT INTO conversations_comment AS comment (workspace_id, channel_id, comment_id, parent_id, post_id, text, details,
    at, removed_at, created_at)
SELECT told.workspace_id, told.channel_id, told.comment_id, '', '', '', '{}', told.at, told.at, %s
FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::timestamptz[])
    AS told (workspace_id, channel_id, comment_id, at)
ORDER BY told.channel_id, told.comment_id
ON CONFLICT (channel_id, comment_id) DO UPDATE SET text = '', details = '{}', removed_at = excluded.removed_at
WHERE comment.removed_at IS NULL
"""
USE_PRIVATE_REPLIES: Final = """
UPDATE conversations_comment AS comment SET privately_answered_at = %(now)s
FROM (
    SELECT comment.id
    FROM unnest(%(channels)s::bigint[], %(comments)s::text[]) AS asked (channel_id, comment_id)
    JOIN conversations_comment AS comment USING (channel_id, comment_id)
    WHERE comment.privately_answered_at IS NULL AND comment.removed_at IS NULL AND comment.at > %(since)s
    ORDER BY comment.id FOR NO KEY UPDATE OF comment
) AS free
WHERE comment.id = free.id
RETURNING comment.channel_id, comment.comment_id, comment.at + %(within)s
"""

Key = tuple[int, str]
# The channel and the network's id; the primary keys of the comment, its contact, and the contact's conversation.
InsertedRow = tuple[int, str, int, int, int | None]


def receive_comments(facts: Sequence[CommentReceived], *, now: datetime) -> int:
    """Store comments of people, each once. Return how many were new. Each new person becomes a contact."""
    once: dict[Key, CommentReceived] = {}
    for fact in facts:
        if has_id(fact.person):
            once.setdefault((fact.channel.id, fact.comment_id), fact)
    ordered = sorted(once.values(), key=lambda one: one.at)
    if not ordered:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(INSERT, [now, *_columns(ordered, _contacts_of(ordered, now))])
        rows: list[InsertedRow] = cursor.fetchall()
    told = [_incoming(once[row[0], row[1]], row) for row in rows]
    for handler in received_comment_handlers if told else ():
        handler.receive(told, now)
    return len(told)


def _contacts_of(facts: Iterable[CommentReceived], now: datetime) -> list[int]:
    """Return the contact of each fact's person. A comment is no message: it does not change when they last wrote."""
    people: list[ChannelPerson] = []
    reported_at: dict[ChannelPerson, datetime] = {}
    for fact in facts:
        person = channel_person(fact.channel, fact.person)
        people.append(person)
        reported_at[person] = max(reported_at.get(person, fact.at), fact.at)
    found = find_or_create_contacts(people=reported_at, now=now, reported_at=reported_at).contacts
    return [found[person] for person in people]


def _columns(facts: Sequence[CommentReceived], contacts: Iterable[int]) -> list[str]:
    return [
        integers([one.channel.workspace_id for one in facts]),
        integers([one.channel.id for one in facts]),
        integers(contacts),
        texts([one.comment_id for one in facts]),
        texts([one.parent_id for one in facts]),
        texts([one.post_id for one in facts]),
        texts([storable(one.text)[:LONGEST_COMMENT] for one in facts]),
        texts([storable_json(one.details) for one in facts]),
        timestamps([one.at for one in facts]),
    ]


def _incoming(fact: CommentReceived, row: InsertedRow) -> IncomingComment:
    _, _, number, contact, conversation = row
    return IncomingComment(
        id=number,
        channel=fact.channel,
        contact_id=contact,
        conversation_id=conversation,
        comment_id=fact.comment_id,
        parent_id=fact.parent_id,
        post_id=fact.post_id,
        text=fact.text,
        details=fact.details,
        at=fact.at,
    )


def edit_comments(facts: Sequence[CommentEdited], *, now: datetime) -> None:
    """Give known comments their newest texts. An edit starts nothing."""
    newest = _newest(facts)
    if newest:
        columns = [
            integers([one.channel.id for one in newest]),
            texts([one.comment_id for one in newest]),
            texts([storable(one.text)[:LONGEST_COMMENT] for one in newest]),
            timestamps([one.at for one in newest]),
        ]
        with connection.cursor() as cursor:
            cursor.execute(EDIT, columns)


def remove_comments(facts: Sequence[CommentRemoved], *, now: datetime) -> None:
    """Empty removed comments. A comment that comes after its removal is not stored."""
    newest = _newest(facts)
    if newest:
        columns = [
            integers([one.channel.workspace_id for one in newest]),
            integers([one.channel.id for one in newest]),
            texts([one.comment_id for one in newest]),
            timestamps([one.at for one in newest]),
        ]
        with connection.cursor() as cursor:
            cursor.execute(REMOVE, [now, *columns])


Fact = TypeVar("Fact", CommentEdited, CommentRemoved)


def _newest(facts: Iterable[Fact]) -> list[Fact]:
    """Return the newest fact about each comment."""
    return list({(one.channel.id, one.comment_id): one for one in sorted(facts, key=lambda one: one.at)}.values())


def use_private_replies(comments: Collection[Key], *, now: datetime) -> Mapping[Key, datetime]:
    """Mark comments, by channel and the network's id, as privately answered, in the caller's transaction.

    Return until when the network takes the reply to each comment that may be answered: one that was not answered
    before, still exists and is not older than seven days.
    """
    if not comments:
        return {}
    channels, ids = zip(*comments, strict=True)
    values: dict[str, Any] = {
        "channels": integers(channels),
        "comments": texts(ids),
        "now": now,
        "since": now - PRIVATE_REPLY_WITHIN,
        "within": PRIVATE_REPLY_WITHIN,
    }
    with connection.cursor() as cursor:
        cursor.execute(USE_PRIVATE_REPLIES, values)
        return {(channel, comment): until for channel, comment, until in cursor.fetchall()}
