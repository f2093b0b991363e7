"""The rows that the engine works with, as they are read: contacts with their facts, runs and conversations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from workspaces.automations.execution.keywords import CompiledTriggers
from workspaces.automations.execution.types import ContactValues, RunState
from workspaces.automations.flows.flow import Flow


class EventRow(NamedTuple):
    """A new fact, with its message's text, type, button payload and file if it is about one, and its channel's type."""

    id: int
    contact_id: int
    kind: str
    source_key: str
    channel_id: int | None
    conversation_id: int | None
    message_id: int | None
    subject: str
    data: Mapping[str, Any]
    depth: int
    cause: int | None
    created_at: datetime
    text: str
    type: str
    payload: str
    media: str
    platform: str


class ConversationRow(NamedTuple):
    """A conversation of the contact. `is_paused` says that people have it in hand."""

    id: int
    contact_id: int
    channel_id: int
    platform: str
    channel_status: str
    last_inbound_at: datetime | None
    is_paused: bool


@dataclass(slots=True)
class RunRow:
    """A run as its row has it. `pk` is None while the run has no row."""

    pk: int | None
    uuid: UUID
    contact_id: int
    automation_id: int
    version_id: int
    channel_id: int
    conversation_id: int | None
    status: str
    state: RunState
    wait_kind: str | None
    wait_until: datetime | None
    depth: int
    subject: str
    comment: str
    started_at: datetime
    started_by_kind: str = "system"
    entry_key: str = ""
    event: int | None = None
    error_code: str = ""
    error_node: str = ""
    error_message: str = ""

    @property
    def ref(self) -> int:
        """A number that names the run within its batch: its key, or a negative number while it has no row."""
        return self.pk if self.pk is not None else -1 - (self.uuid.int >> 66)

    @property
    def is_active(self) -> bool:
        return self.status in ("running", "waiting")

    @property
    def listens(self) -> bool:
        return self.is_active and self.wait_kind == "reply"

    def is_due(self, now: datetime) -> bool:
        return self.is_active and (
            self.wait_kind == "begin" or (self.wait_until is not None and self.wait_until <= now)
        )


@dataclass(slots=True)
class Caps:
    """How many messages of automations a contact got lately; the columns of `ContactQueue`."""

    minute_began_at: datetime | None
    minute_count: int
    day_began_at: datetime | None
    day_count: int
    last_text_digest: int | None
    last_text_count: int
    last_text_at: datetime | None


@dataclass(slots=True)
class EnabledTrigger:
    """An automation that is on, as far as starting it needs."""

    automation_id: int
    version_id: int
    platform: str
    name: str
    reentry: str
    reentry_days: int
    stops_on_reply: bool
    catch_all: bool
    uuid: UUID
    stops_on_booking: bool = False


@dataclass(slots=True)
class WorkspaceTriggers:
    """The compiled triggers of a workspace's automations that are on, and those automations by their keys.

    `limited` are those that a contact may not enter again at once, the catch-all ones among them.
    """

    generation: int
    compiled: CompiledTriggers
    automations: dict[int, EnabledTrigger]
    limited: frozenset[int]


class VersionValues(NamedTuple):
    """A published version's flow, the name of its automation, and whether it has A.I. steps."""

    flow: Flow
    name: str
    has_ai: bool


@dataclass(slots=True)
class WorkspaceValues:
    """A workspace's settings that flows read. `country` is that of its phone number, or ""."""

    pk: int
    timezone: str
    currency: str
    country: str
    opening_hours: Mapping[str, Sequence[Sequence[str]]]
    texts: Mapping[str, str]


@dataclass(slots=True)
class ContactWork:
    """Everything about one locked contact: its values, new events, active runs, conversations and caps."""

    pk: int
    uuid: UUID
    values: ContactValues
    is_opted_out: bool
    agency_id: int
    restored_at: datetime | None
    workspace: WorkspaceValues
    triggers: WorkspaceTriggers
    caps: Caps
    events: list[EventRow] = field(default_factory=list)
    runs: list[RunRow] = field(default_factory=list)
    conversations: dict[int, ConversationRow] = field(default_factory=dict)
    last_entries: dict[int, datetime] = field(default_factory=dict)
