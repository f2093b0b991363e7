"""Pauses: while people have a conversation in hand, no automation answers in it."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from django.db import connection
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_noop as _

from config.postgresql.arrays import integers, texts, timestamps
from config.retention import ExpiredRows
from workspaces.automations.models import AutomationPause
from workspaces.conversations.services.automated import withdraw_automated_messages
from workspaces.conversations.services.conversations import announce_changes
from workspaces.conversations.services.registries import EndedConversationHandler, OwnMessage, OwnMessageHandler

# A message of a person pauses automations for so long.
PAUSE_AFTER_MESSAGE: Final = timedelta(hours=24)
# Why a conversation is paused, in words for people.
ANSWERED: Final = "person_answered"
HANDED_OVER: Final = "handed_over"
BY_HAND: Final = "by_hand"
PAUSE_REASONS: Final = {
    ANSWERED: _("A person of your team has written."),
    HANDED_OVER: _("An automation has handed the conversation over."),
    BY_HAND: _("A person of your team has paused automations here."),
}
# The kinds of senders that are people. Messages of the system and of automations pause nothing.
PEOPLE: Final = frozenset({"user", "customer", "staff", "workspace_key", "agency_key", "elsewhere"})

# A pause only becomes longer. The rows are written in one order, so that two transactions do not wait for each other.
PAUSE: Final = """
INSERT INTO automations_automationpause AS pause (conversation_id, workspace_id, until, reason, by_label, created_at)
SELECT new.*, %s FROM unnest(%s::bigint[], %s::bigint[], %s::timestamptz[], %s::text[], %s::text[])
    AS new (conversation_id, workspace_id, until, reason, by_label)
ORDER BY conversation_id
ON CONFLICT (conversation_id) DO UPDATE
SET until = excluded.until, reason = excluded.reason, by_label = excluded.by_label, created_at = excluded.created_at
WHERE coalesce(excluded.until, 'infinity') > coalesce(pause.until, 'infinity')
"""


class NewPause(NamedTuple):
    """A pause to begin. `until` is None for a pause until the conversation is closed."""

    conversation_id: int
    workspace_id: int
    reason: str
    until: datetime | None = None
    by_label: str = ""


def pause_conversations(pauses: Iterable[NewPause], *, now: datetime) -> None:
    """Pause automations in these conversations, in the caller's transaction. A longer pause stays."""
    longest: dict[int, NewPause] = {}
    for one in pauses:
        known = longest.get(one.conversation_id)
        if known is None or (known.until is not None and (one.until is None or one.until > known.until)):
            longest[one.conversation_id] = one
    if longest:
        with connection.cursor() as cursor:
            cursor.execute(PAUSE, [now, *_columns(list(longest.values()))])


def _columns(pauses: Sequence[NewPause]) -> list[str]:
    return [
        integers([one.conversation_id for one in pauses]),
        integers([one.workspace_id for one in pauses]),
        timestamps([one.until for one in pauses]),
        texts([one.reason for one in pauses]),
        texts([one.by_label[:254] for one in pauses]),
    ]


def pause_conversation(
    *,
    conversation_id: int,
    workspace_id: int,
    reason: str,
    now: datetime,
    by_label: str = "",
    until: datetime | None = None,
) -> None:
    """Pause automations in a conversation until a time, or until it is closed. Pages that show it load it again."""
    pause_conversations([NewPause(conversation_id, workspace_id, reason, until, by_label)], now=now)
    announce_changes([(workspace_id, conversation_id)])


def end_pause(*, conversation_id: int, workspace_id: int) -> bool:
    """Let automations answer in a conversation again. Return whether it was paused."""
    rows = AutomationPause.objects.filter(pk=conversation_id, workspace_id=workspace_id)
    was_paused = bool(rows.delete()[0])
    if was_paused:
        announce_changes([(workspace_id, conversation_id)])
    return was_paused


def pauses_of(conversations: Collection[int]) -> Mapping[int, AutomationPause]:
    """Return the pauses of these conversations that last, by the database's clock."""
    lasting = AutomationPause.objects.filter(Q(until=None) | Q(until__gt=Now()))
    return {one.pk: one for one in lasting.filter(pk__in=conversations)}


def pause_after_messages(messages: Sequence[OwnMessage], now: datetime) -> None:
    """Pause automations where people have written, for a day from their message, and withdraw what has not left yet."""
    written = [one for one in messages if one.by_kind in PEOPLE and one.at + PAUSE_AFTER_MESSAGE > now]
    pause_conversations(
        [
            NewPause(one.conversation_id, one.workspace_id, ANSWERED, one.at + PAUSE_AFTER_MESSAGE, one.by_label)
            for one in written
        ],
        now=now,
    )
    if written:
        withdraw_automated_messages(conversations={one.conversation_id for one in written}, now=now)


def end_pauses(conversations: Collection[int]) -> None:
    """End the pauses of conversations."""
    AutomationPause.objects.filter(pk__in=conversations).delete()


def move_pauses(ended: Mapping[int, int | None]) -> None:
    """End the pauses of conversations that were closed or removed. Where one was joined to another, it is paused."""
    joined = {one: into for one, into in ended.items() if into is not None}
    for pause in AutomationPause.objects.filter(pk__in=joined) if joined else ():
        moved = NewPause(joined[pause.pk], pause.workspace_id, pause.reason, pause.until, pause.by_label)
        pause_conversations([moved], now=pause.created_at)
    end_pauses(ended)


# An ended pause is kept for a day. A pause without a time ends with its conversation.
PAUSES = ExpiredRows(
    "automations_automationpause",
    "until",
    timedelta(days=1),
    key="conversation_id",
    order="until",
    of="until IS NOT NULL",
)
OWN_MESSAGE_HANDLER = OwnMessageHandler("automations.pauses", pause_after_messages)
ENDED_CONVERSATION_HANDLER = EndedConversationHandler("automations.pauses", move_pauses)
