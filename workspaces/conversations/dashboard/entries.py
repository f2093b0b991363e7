"""Reads a thread for a page: messages and notes in the order in which they were written."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from config.api.fields import DateTimeOutOfRange, parse_aware_datetime
from workspaces.conversations.models import Conversation, Message, Note
from workspaces.conversations.models.messages import OUTCOME_UNKNOWN, Status
from workspaces.conversations.services.failures import reason_of
from workspaces.conversations.services.team_inbox.threads import Position, thread_piece


@dataclass(frozen=True, slots=True)
class Entry:
    """A message or a note."""

    at: datetime
    message: Message | None = None
    note: Note | None = None

    @property
    def failure(self) -> str:
        """The reason why the message failed, or ""."""
        has_failed = self.message is not None and self.message.status == Status.FAILED
        return reason_of(self.message) if self.message and has_failed else ""

    @property
    def may_have_arrived(self) -> bool:
        """Whether it is unknown if the message was sent. A later status of the network settles it."""
        message = self.message
        return message is not None and message.error_code == OUTCOME_UNKNOWN and not message.has_gone_out


@dataclass(frozen=True, slots=True)
class Thread:
    """A part of a thread, oldest entry first. `earlier` is the position of the part before it, or ""."""

    entries: Sequence[Entry]
    earlier: str


def read_entries(conversation: Conversation, *, before: Position | None = None) -> Thread:
    """Return the newest messages and notes together, or the newest before a position."""
    piece = thread_piece(conversation, before=before)
    entries = [
        *(Entry(at=message.provider_time, message=message) for message in reversed(piece.messages)),
        *(Entry(at=note.created_at, note=note) for note in reversed(piece.notes)),
    ]
    return Thread(sorted(entries, key=lambda entry: entry.at), write_position(piece.older))


def write_position(position: Position | None) -> str:
    """Format a position for a link, or "" without one."""
    return f"{position.at.isoformat()}_{position.id}" if position else ""


def read_position(text: str) -> Position | None:
    """Parse a position from a link. Return None for anything else."""
    moment, _, number = text.partition("_")
    try:
        at = parse_aware_datetime(moment)
    except DateTimeOutOfRange:
        return None
    if at is None or not (number.isascii() and number.isdigit()) or len(number) > 18:
        return None
    return Position(at, int(number))
