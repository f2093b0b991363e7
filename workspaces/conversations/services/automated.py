"""Queues automations' messages in bulk, and withdraws those that must not leave any more."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID, uuid4

from django.db import connection

from config.celery import wake_up
from config.postgresql.arrays import integers, texts, uuids
from workspaces.conversations.facts import storable, storable_json
from workspaces.conversations.models import Conversation
from workspaces.conversations.models.conversations import LONGEST_PREVIEW
from workspaces.conversations.models.messages import Status
from workspaces.conversations.services.content import CheckedContent
from workspaces.conversations.services.conversations import announce_changes
from workspaces.conversations.services.send_results import SendResult, record_send_results
from workspaces.conversations.services.sending import SENDER

AUTOMATION: Final = "automation"
LONGEST_LABEL: Final = 254
# Error codes of withdrawn messages, with their sentences.
AUTOMATION_STOPPED, AUTOMATION_PAUSED = "automation_stopped", "automation_paused"
WITHDRAWAL_SENTENCES: Final[Mapping[str, str]] = {
    AUTOMATION_STOPPED: "The automation was stopped before this message was sent.",
    AUTOMATION_PAUSED: "A person took over the conversation before this message was sent.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingDraft:
    """A message of an automation that is to be queued. `sent_by_label` is the automation's name."""

    conversation_id: int
    workspace_id: int
    agency_id: int
    channel_id: int
    content: CheckedContent
    sent_by_kind: str = AUTOMATION
    sent_by_label: str = ""


# Ids are given in the order of the drafts. The queue keeps it within a conversation. A file that was removed meanwhile
# is left out: its message then fails alone, and not all messages with it.
INSERT: Final = """
WITH draft AS MATERIALIZED (
    SELECT * FROM unnest(
        %(uuids)s::uuid[], %(conversations)s::bigint[], %(workspaces)s::bigint[], %(agencies)s::bigint[],
        %(channels)s::bigint[], %(types)s::text[], %(texts)s::text[], %(details)s::jsonb[], %(templates)s::jsonb[],
        %(media)s::bigint[], %(kinds)s::text[], %(labels)s::text[]
    ) WITH ORDINALITY AS draft (
        uuid, conversation_id, workspace_id, agency_id, channel_id, type, text, details, template, media_id, kind,
        label, number)
), written AS (
    INSERT INTO conversations_message (uuid, conversation_id, workspace_id, channel_id, direction, type, text, details,
        template, media_id, status, sent_elsewhere, sent_by_kind, sent_by_label, provider_time, created_at)
    SELECT uuid, conversation_id, workspace_id, channel_id, 'out', type, text, details, template,
        (SELECT id FROM media_media WHERE id = draft.media_id FOR KEY SHARE), 'pending', false, kind, label, %(now)s,
        %(now)s
    FROM draft ORDER BY number
    RETURNING id, uuid
), queued AS (
    INSERT INTO conversations_queuedmessage (message_id, agency_id, workspace_id, channel_id, conversation_id, due_at,
        is_ready, is_unknown, tries, is_automated)
    SELECT written.id, agency_id, workspace_id, channel_id, conversation_id, %(now)s, true, false, 0, true
    FROM written JOIN draft USING (uuid)
)
SELECT written.id, written.uuid FROM written JOIN draft USING (uuid) ORDER BY draft.number
"""
# The last draft of each conversation becomes its last message, unless a newer message is shown already.
SHOW_LAST: Final = """
UPDATE conversations_conversation conversation
SET updated_at = %(now)s, last_message = ours.id, last_message_uuid = ours.uuid, last_message_at = ours.provider_time,
    last_message_direction = ours.direction, last_message_type = ours.type,
    last_message_preview = left(ours.text, %(longest)s)
FROM conversations_message ours
WHERE ours.id = ANY (%(messages)s::bigint[]) AND conversation.id = ours.conversation_id
    AND (conversation.last_message_at IS NULL OR conversation.last_message_at <= ours.provider_time)
"""


def queue_messages(drafts: Sequence[OutgoingDraft], *, now: datetime) -> list[tuple[int, UUID]]:
    """Insert automated messages and wake up the sender, with a constant number of statements.

    Returns the messages' primary keys and uuids in the order of the drafts, which is also the order in which those of
    one conversation are sent. The caller's transaction holds the locks of the conversations. Opt-outs and windows are
    not checked here: the engine judges them before, and the sender again right before the call.
    """
    if not drafts:
        return []
    with connection.cursor() as cursor:
        cursor.execute(INSERT, {**_columns(drafts), "now": now})
        written: list[tuple[int, UUID]] = cursor.fetchall()
    newest = {draft.conversation_id: key for draft, (key, _) in zip(drafts, written, strict=True)}
    _show_last(newest, now)
    announce_changes((draft.workspace_id, draft.conversation_id) for draft in drafts)
    wake_up(SENDER)
    return written


def _columns(drafts: Sequence[OutgoingDraft]) -> dict[str, str]:
    contents = [draft.content for draft in drafts]
    return {
        "uuids": uuids([uuid4() for _ in drafts]),
        "conversations": integers([draft.conversation_id for draft in drafts]),
        "workspaces": integers([draft.workspace_id for draft in drafts]),
        "agencies": integers([draft.agency_id for draft in drafts]),
        "channels": integers([draft.channel_id for draft in drafts]),
        "types": texts([content.type for content in contents]),
        "texts": texts([storable(content.text) for content in contents]),
        "details": texts([storable_json(content.details) for content in contents]),
        "templates": texts(
            [None if content.template is None else storable_json(content.template) for content in contents]
        ),
        "media": integers([content.media.pk if content.media else None for content in contents]),
        "kinds": texts([draft.sent_by_kind for draft in drafts]),
        "labels": texts([storable(draft.sent_by_label)[:LONGEST_LABEL] for draft in drafts]),
    }


def _show_last(newest: Mapping[int, int], now: datetime) -> None:
    """Show the newest message of each conversation in lists. `newest` holds messages by conversations."""
    values: dict[str, str | int | datetime] = {
        "now": now,
        "longest": LONGEST_PREVIEW,
        "messages": integers(newest.values()),
    }
    with connection.cursor() as cursor:
        cursor.execute(SHOW_LAST, values)
        if cursor.rowcount < len(newest):
            Conversation.objects.filter(pk__in=newest).update(updated_at=now)


# A message that a run holds may have left. If the provider did not take it, it must not be tried again.
LOCK_UNSENT: Final = """
SELECT message_id, run IS NOT NULL FROM conversations_queuedmessage
WHERE {which} AND is_automated AND NOT is_unknown ORDER BY message_id FOR UPDATE
"""
LOCK_MESSAGES: Final = LOCK_UNSENT.format(which="message_id = ANY (%s::bigint[])")
LOCK_CONVERSATIONS: Final = LOCK_UNSENT.format(which="conversation_id = ANY (%s::bigint[])")
MARK_WITHDRAWN: Final = """
UPDATE conversations_queuedmessage SET withdrawn_as = %s WHERE message_id = ANY (%s::bigint[])
"""


def withdraw_queued_messages(
    *, messages: Collection[int], now: datetime, code: str = AUTOMATION_STOPPED
) -> Collection[int]:
    """Withdraw automated messages, by primary key, in the caller's transaction. Returns those that certainly stay here.

    These fail with the code. A message that a sender has claimed may have left: it keeps its result, but is not tried
    again if the provider did not take it. Messages of people are left alone.
    """
    return _withdraw(LOCK_MESSAGES, messages, code, now)


def withdraw_automated_messages(
    *, conversations: Collection[int], now: datetime, code: str = AUTOMATION_PAUSED
) -> Collection[int]:
    """Withdraw all unsent automated messages of conversations, as `withdraw_queued_messages` does."""
    return _withdraw(LOCK_CONVERSATIONS, conversations, code, now)


def _withdraw(statement: str, keys: Collection[int], code: str, now: datetime) -> Collection[int]:
    sentence = WITHDRAWAL_SENTENCES[code]
    with connection.cursor() as cursor:
        cursor.execute(statement, [integers(keys)])
        rows = cursor.fetchall()
        if held := [message for message, is_held in rows if is_held]:
            cursor.execute(MARK_WITHDRAWN, [code, integers(held)])
    waiting = [message for message, is_held in rows if not is_held]
    failed = [
        SendResult(message=one, status=Status.FAILED, at=now, error_code=code, error_message=sentence)
        for one in waiting
    ]
    record_send_results(failed, now=now)
    return waiting
