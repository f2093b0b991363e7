"""Applies contacts' edits, removals and reactions. Changes that come before their message are parked."""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final, NamedTuple

from django.db import connection, transaction

from config.postgresql.arrays import integers, texts, timestamps
from config.tries.counting import died_of, run_counted
from workspaces.conversations.facts import (
    FILE_SEPARATOR,
    MOST_FILES,
    MessageEdited,
    MessageRemoved,
    ReactionChanged,
    storable,
)
from workspaces.conversations.models.conversations import LONGEST_PREVIEW
from workspaces.conversations.models.messages import ParkedChange
from workspaces.conversations.services.conversations import announce_changes, lock_channels
from workspaces.conversations.services.removal import remove_media_of_messages

MOST_OF_A_CHANNEL = 1_000
# Longer than the transactions that park a change or make its message known, and than this task waits behind others. At
# most the newest `MOST_LOOKED_AT` changes are checked.
LATELY = timedelta(minutes=15)
MOST_LOOKED_AT = 10_000

PARK = """
INSERT INTO conversations_parkedchange AS parked (channel_id, message_id, kind, text, at, parked_at)
SELECT told.channel_id, told.message_id, %s, told.text, told.at, %s
FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::timestamptz[]) AS told (channel_id, message_id, text, at)
WHERE NOT EXISTS (
    SELECT FROM conversations_message message
    WHERE message.channel_id = told.channel_id AND message.provider_message_id = told.message_id
)
ON CONFLICT (channel_id, message_id, kind) DO UPDATE SET parked_at = excluded.parked_at,
    text = CASE WHEN parked.at <= excluded.at THEN excluded.text ELSE parked.text END,
    at = greatest(parked.at, excluded.at)
RETURNING channel_id
"""
# Changes of messages that never come, such as reactions to broadcasts, make room for newer ones.
MAKE_ROOM = """
DELETE FROM conversations_parkedchange WHERE id IN (
    SELECT old.id FROM unnest(%s::bigint[]) AS full_one (channel_id) CROSS JOIN LATERAL (
        SELECT id FROM conversations_parkedchange AS parked WHERE parked.channel_id = full_one.channel_id
        ORDER BY id DESC OFFSET %s
    ) AS old)
"""
# We know our own messages before their network's ids. An id comes with the network's answer, a status or an echo. A
# change that comes at the same moment is still parked.
KNOWN = """
SELECT DISTINCT parked.channel_id, parked.message_id FROM (
    SELECT channel_id, message_id FROM conversations_parkedchange WHERE parked_at > %s ORDER BY parked_at DESC LIMIT %s
) AS parked
JOIN conversations_message message
    ON message.channel_id = parked.channel_id AND message.provider_message_id = parked.message_id
LIMIT %s
"""
# Rows that another reader has locked are skipped; that reader parks them again or applies them.
SCHEDULE = """
UPDATE conversations_parkedchange SET parked_at = %s WHERE id = ANY (ARRAY (
    SELECT parked.id FROM unnest(%s::bigint[], %s::text[]) AS known (channel_id, message_id)
    JOIN conversations_parkedchange parked USING (channel_id, message_id)
    FOR NO KEY UPDATE OF parked SKIP LOCKED))
"""
POP = """
DELETE FROM conversations_parkedchange parked USING unnest(%s::bigint[], %s::text[]) AS known (channel_id, message_id)
WHERE parked.channel_id = known.channel_id AND parked.message_id = known.message_id
RETURNING parked.kind, parked.channel_id, parked.message_id, parked.text, parked.at
"""
# A change that is not checked any more is dropped a day after it was reported.
GIVE_UP = """
UPDATE conversations_parkedchange parked SET parked_at = least(parked.parked_at, %s)
FROM unnest(%s::bigint[], %s::text[]) AS known (channel_id, message_id)
WHERE parked.channel_id = known.channel_id AND parked.message_id = known.message_id
"""


class Change(NamedTuple):
    """A change of the message with a provider's id. `text` is the new text, the emoji, or "" for a removal."""

    channel_id: int
    message_id: str
    text: str
    at: datetime


def columns_of(changes: Collection[Change]) -> list[str]:
    return [
        integers([one.channel_id for one in changes]),
        texts([one.message_id for one in changes]),
        texts([one.text for one in changes]),
        timestamps([one.at for one in changes]),
    ]


def park_changes(kind: str, changes: Sequence[Change], *, now: datetime) -> None:
    """Park the changes of messages that are not known yet, the newest of each kind."""
    with connection.cursor() as cursor:
        cursor.execute(PARK, [kind, now, *columns_of(changes)])
        parked = {row[0] for row in cursor.fetchall()}
        if parked:
            cursor.execute(MAKE_ROOM, [integers(parked), MOST_OF_A_CHANNEL])


def schedule_parked_changes(messages: Collection[tuple[int, str]], *, now: datetime) -> None:
    """Mark the parked changes of messages whose provider's ids have just become known, so that a task applies them.

    `messages` holds channel keys and provider's ids. Callers that must not wait for callback readers use this; it skips
    locked rows.
    """
    if messages:
        values = [integers([one[0] for one in messages]), texts([one[1] for one in messages])]
        with connection.cursor() as cursor:
            cursor.execute(SCHEDULE, [now, *values])


def known_messages_with_parked_changes(most: int, *, now: datetime) -> list[tuple[int, str]]:
    """Return known messages, by channel and provider's id, that have recently parked changes."""
    with connection.cursor() as cursor:
        cursor.execute(KNOWN, [now - LATELY, MOST_LOOKED_AT, most])
        found: list[tuple[int, str]] = cursor.fetchall()
    return found


def give_up_parked_changes(messages: Collection[tuple[int, str]], *, now: datetime) -> None:
    """Stop checking the parked changes of these messages."""
    values = [integers([one[0] for one in messages]), texts([one[1] for one in messages])]
    with connection.cursor() as cursor:
        cursor.execute(GIVE_UP, [now - LATELY, *values])


def pop_parked_changes(messages: Iterable[tuple[int, str]]) -> dict[str, list[Change]]:
    """Remove the parked changes of these messages and return them by kind."""
    known = list(messages)
    found: dict[str, list[Change]] = {}
    if known:
        with connection.cursor() as cursor:
            cursor.execute(POP, [integers([one[0] for one in known]), texts([one[1] for one in known])])
            for kind, *change in cursor.fetchall():
                found.setdefault(kind, []).append(Change(*change))
    return found


# Reactions of contacts in these networks open the window, as messages do.
REACTIONS_OPEN_WINDOW = ["whatsapp", "facebook"]
LONGEST_EMOJI = 40
KIND: Final = "parked changes"
MOST_AT_ONCE = 500

TARGETS = """
    SELECT message.id, message.conversation_id, message.workspace_id, message.media_id, told.*
    FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::timestamptz[]) AS told (channel_id, message_id, text, at)
    JOIN conversations_message message
        ON message.channel_id = told.channel_id AND message.provider_message_id = told.message_id
    ORDER BY message.id FOR NO KEY UPDATE OF message
"""
# Includes the further files of a message, which are separate messages.
WITH_FILES = TARGETS.replace(
    "message.provider_message_id = told.message_id",
    f"""message.provider_message_id = ANY (ARRAY[told.message_id] || ARRAY (
            SELECT told.message_id || '{FILE_SEPARATOR}' || n FROM generate_series(2, {MOST_FILES}) AS n))""",  # noqa: S608  # texts of our own
)
EDIT = f"""
WITH target AS ({TARGETS})
UPDATE conversations_message message SET text = target.text, edited_at = target.at
FROM target
WHERE message.id = target.id AND message.removed_at IS NULL
    AND (message.edited_at IS NULL OR message.edited_at <= target.at)
RETURNING message.workspace_id, message.conversation_id, message.id, NULL
"""  # noqa: S608  # texts of our own
REMOVE = f"""
WITH target AS ({WITH_FILES}), forgotten AS (
    DELETE FROM conversations_mediafetch WHERE message_id IN (SELECT id FROM target)
)
UPDATE conversations_message message
SET text = '', details = '{{}}', reactions = '[]', template = NULL, media_id = NULL, removed_at = target.at
FROM target WHERE message.id = target.id AND message.removed_at IS NULL
RETURNING message.workspace_id, message.conversation_id, message.id, target.media_id
"""  # noqa: S608  # texts of our own
# A contact has one reaction to a message. A removed reaction stays with an empty emoji, so that an older one that comes
# late does not restore it.
REACT = f"""
WITH target AS ({TARGETS})
UPDATE conversations_message message
SET reactions = (
    SELECT coalesce(jsonb_agg(kept), '[]') FROM jsonb_array_elements(message.reactions) AS kept
    WHERE kept ->> 'by' <> 'contact'
) || jsonb_build_array(jsonb_build_object('by', 'contact', 'emoji', target.text, 'at', target.at))
FROM target
WHERE message.id = target.id AND message.removed_at IS NULL AND NOT EXISTS (
    SELECT FROM jsonb_array_elements(message.reactions) AS known
    WHERE known ->> 'by' = 'contact' AND (known ->> 'at')::timestamptz > target.at)
RETURNING message.workspace_id, message.conversation_id, message.id, NULL
"""  # noqa: S608  # texts of our own
PREVIEW = """
UPDATE conversations_conversation conversation SET last_message_preview = left(message.text, %s), updated_at = %s
FROM (
    SELECT conversation.id FROM conversations_conversation conversation
    WHERE conversation.id = ANY (%s::bigint[]) ORDER BY conversation.id FOR NO KEY UPDATE
) AS held, conversations_message message
WHERE conversation.id = held.id AND conversation.last_message = message.id AND message.id = ANY (%s::bigint[])
"""
# On some networks a reaction opens the 24-hour window, as a message does.
OPEN_WINDOWS = """
UPDATE conversations_conversation conversation
SET last_inbound_at = greatest(conversation.last_inbound_at, reacted.at)
FROM (
    SELECT message.conversation_id AS id, max((reaction ->> 'at')::timestamptz) AS at
    FROM conversations_message message CROSS JOIN LATERAL jsonb_array_elements(message.reactions) AS reaction
    WHERE message.id = ANY (%s::bigint[]) AND reaction ->> 'by' = 'contact' AND reaction ->> 'emoji' <> ''
    GROUP BY message.conversation_id
) AS reacted, subaccounts_channel channel
WHERE conversation.id = reacted.id AND channel.id = conversation.channel_id AND channel.platform = ANY (%s)
"""

# The primary keys of the workspace, the conversation, the message, and the file that the message has lost.
Row = tuple[int, int, int, int | None]
EDITED, REMOVED, REACTED = ParkedChange.Kind.EDIT, ParkedChange.Kind.REMOVAL, ParkedChange.Kind.REACTION


def edit_messages(facts: Sequence[MessageEdited], *, now: datetime) -> int:
    """Apply the newest edit of each message. Return how many messages changed."""
    return _apply(EDITED, [_change(fact, fact.text) for fact in facts], now=now)


def remove_messages(facts: Sequence[MessageRemoved], *, now: datetime) -> int:
    """Remove the text, file, details and reactions of deleted messages. Return how many messages changed.

    Their files are removed too, unless something else uses them.
    """
    return _apply(REMOVED, [_change(fact, "") for fact in facts], now=now)


def change_reactions(facts: Sequence[ReactionChanged], *, now: datetime) -> int:
    """Store contacts' reactions to messages. Return how many messages changed."""
    return _apply(REACTED, [_change(fact, fact.emoji[:LONGEST_EMOJI]) for fact in facts], now=now)


def apply_parked_changes(messages: Iterable[tuple[int, str]], *, now: datetime) -> None:
    """Apply the changes that came before their messages. `messages` holds channel keys and provider's ids."""
    parked = pop_parked_changes(messages)
    for kind in (EDITED, REMOVED, REACTED):
        _apply(kind, parked.get(kind, ()), now=now)


def apply_out_of_order_changes(*, now: datetime) -> int:
    """Apply parked changes of our messages whose provider's id is known now. Return the number of messages.

    A reaction may come before the answer to the call that sent its message is recorded. Each channel has its own
    transaction. Channels whose changes crashed a process before come last.
    """
    messages = known_messages_with_parked_changes(MOST_AT_ONCE, now=now)
    of_channels: dict[int, list[tuple[int, str]]] = {}
    for message in messages:
        of_channels.setdefault(message[0], []).append(message)
    died = died_of(KIND, of_channels.keys())
    for channel in sorted(of_channels, key=lambda channel: (str(channel) in died, channel)):
        mine = of_channels[channel]
        give_up = partial(give_up_parked_changes, mine, now=now)
        work = partial(_apply_out_of_order, channel, mine, now)
        run_counted(work, kind=KIND, key=channel, give_up=give_up, counts_faults=True)
    return len(messages)


@transaction.atomic
def _apply_out_of_order(channel: int, messages: Sequence[tuple[int, str]], now: datetime) -> None:
    lock_channels({channel})
    apply_parked_changes(messages, now=now)


def _change(fact: MessageEdited | MessageRemoved | ReactionChanged, text: str) -> Change:
    return Change(fact.channel.id, storable(fact.message_id), storable(text), fact.at)


def _apply(kind: str, changes: Sequence[Change], *, now: datetime) -> int:
    """Apply the last change of each message, as one statement changes a row once. Park changes of unknown messages."""
    newest = {(one.channel_id, one.message_id): one for one in sorted(changes, key=lambda one: one.at)}
    if not newest:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(STATEMENTS[kind], columns_of(newest.values()))
        changed: list[Row] = cursor.fetchall()
    FOLLOW_UPS[kind](changed, now)
    park_changes(kind, list(newest.values()), now=now)
    return len(changed)


def _remove_files(changed: Sequence[Row], now: datetime) -> None:
    _update_previews(changed, now)
    remove_media_of_messages([row[3] for row in changed], now=now)


def _open_windows(changed: Sequence[Row], now: datetime) -> None:
    if changed:
        with connection.cursor() as cursor:
            cursor.execute(OPEN_WINDOWS, [integers([row[2] for row in changed]), REACTIONS_OPEN_WINDOW])
    announce_changes((workspace, conversation) for workspace, conversation, *_ in changed)


def _update_previews(changed: Sequence[Row], now: datetime) -> None:
    """Update the preview of conversations whose last message has changed."""
    if not changed:
        return
    conversations = integers(sorted({row[1] for row in changed}))
    with connection.cursor() as cursor:
        cursor.execute(PREVIEW, [LONGEST_PREVIEW, now, conversations, integers([row[2] for row in changed])])
    announce_changes((workspace, conversation) for workspace, conversation, *_ in changed)


STATEMENTS: dict[str, str] = {EDITED: EDIT, REMOVED: REMOVE, REACTED: REACT}
FOLLOW_UPS: dict[str, Callable[[Sequence[Row], datetime], None]] = {
    EDITED: _update_previews,
    REMOVED: _remove_files,
    REACTED: _open_windows,
}
