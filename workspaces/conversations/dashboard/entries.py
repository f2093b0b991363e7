"""A thread as a page shows it: messages and notes in the order in which they were written."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.dateparse import parse_datetime

from workspaces.conversations.models import Conversation, Message, Note
from workspaces.conversations.services import shown_messages

SHOWN = 50


@dataclass(frozen=True, slots=True)
class Entry:
    """A message or a note."""

    at: datetime
    message: Message | None = None
    note: Note | None = None


@dataclass(frozen=True, slots=True)
class Thread:
    """A part of a thread, the oldest entry first; `earlier` says where the part before it ends, if there is one."""

    entries: list[Entry]
    earlier: str


def read_entries(conversation: Conversation, *, before: str = "") -> Thread:
    """Give the newest entries, or the newest before a time, of messages and notes together."""
    until = _moment(before)
    messages = shown_messages(Message.objects.filter(conversation=conversation))
    notes = Note.objects.filter(conversation=conversation)
    if until is not None:
        messages, notes = messages.filter(provider_time__lt=until), notes.filter(created_at__lt=until)
    newest = [
        *(Entry(at=message.provider_time, message=message) for message in messages.newest_first()[: SHOWN + 1]),
        *(Entry(at=note.created_at, note=note) for note in notes.order_by("-created_at", "-id")[: SHOWN + 1]),
    ]
    newest.sort(key=lambda entry: entry.at, reverse=True)
    shown = newest[:SHOWN]
    earlier = shown[-1].at.isoformat() if len(newest) > SHOWN else ""
    return Thread(shown[::-1], earlier)


def _moment(text: str) -> datetime | None:
    try:
        found = parse_datetime(text)
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None
