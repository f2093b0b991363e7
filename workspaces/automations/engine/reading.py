"""Reads all that a batch of locked contacts needs, in a constant number of statements."""

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import orjson
from django.db import connection

from config.postgresql.arrays import integers
from workspaces.automations.execution.interpreter import state_from_row
from workspaces.automations.execution.keywords import CompiledTriggers, TriggerSource, compile_triggers
from workspaces.automations.execution.types import ContactValues, RunState
from workspaces.automations.flows.flow import Flow, has_ai
from workspaces.automations.models.automations import AutomationVersion
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import settings_in_texts

MOST_EVENTS: Final = 50
MOST_RUNS: Final = 200
LONGEST_TEXT: Final = 500
# The memory for compiled triggers and for flows, counted in automations and in versions.
MOST_COMPILED: Final = 50_000
MOST_FLOWS: Final = 5_000

CONTACTS: Final = """
SELECT contact.id, contact.uuid, contact.name, contact.phone, contact.email, contact.country, contact.timezone,
    contact.tag_keys, contact.attributes, contact.opted_out_at IS NOT NULL,
    contact.marketing_opted_out_at IS NULL, contact.workspace_id, workspace.agency_id,
    greatest(workspace.restored_at, agency.restored_at),
    queued.minute_began_at, queued.minute_count, queued.day_began_at, queued.day_count, queued.last_text_digest,
    queued.last_text_count, queued.last_text_at
FROM contacts_contact contact
JOIN subaccounts_workspace workspace ON workspace.id = contact.workspace_id
JOIN agency_agency agency ON agency.id = workspace.agency_id
JOIN automations_contactqueue queued ON queued.contact_id = contact.id
WHERE contact.id = ANY (%s::bigint[])
"""
EVENTS: Final = """
SELECT event.id, event.contact_id, event.kind, event.source_key, event.channel_id, event.conversation_id,
    event.message_id, event.subject, event.data, event.depth, event.cause, event.created_at,
    left(message.text, %s), message.type, message.details ->> 'payload', media.uuid, channel.platform
FROM unnest(%s::bigint[]) AS due (contact_id) CROSS JOIN LATERAL (
    SELECT * FROM automations_triggerevent event
    WHERE event.contact_id = due.contact_id AND event.outcome IS NULL ORDER BY event.id LIMIT %s
) AS event
LEFT JOIN conversations_message message ON message.id = event.message_id
LEFT JOIN media_media media ON media.id = message.media_id
LEFT JOIN subaccounts_channel channel ON channel.id = event.channel_id
ORDER BY event.contact_id, event.id
"""
RUNS: Final = """
SELECT run.id, run.uuid, run.contact_id, run.automation_id, run.version_id, run.channel_id, run.conversation_id,
    run.status, run.node, run.seq, run.messages, run.data, run.wait_kind, run.wait_key, run.wait_until, run.depth,
    run.subject, run.comment, run.started_at, run.started_by_kind
FROM unnest(%s::bigint[]) AS due (contact_id) CROSS JOIN LATERAL (
    SELECT * FROM automations_automationrun run
    WHERE run.contact_id = due.contact_id AND run.status IN ('running', 'waiting') ORDER BY run.id LIMIT %s
) AS run
ORDER BY run.contact_id, run.id
"""
CONVERSATIONS: Final = """
SELECT conversation.id, conversation.contact_id, conversation.channel_id, channel.platform, channel.status,
    conversation.last_inbound_at, pause.conversation_id IS NOT NULL
FROM conversations_conversation conversation
JOIN subaccounts_channel channel ON channel.id = conversation.channel_id
LEFT JOIN automations_automationpause pause ON pause.conversation_id = conversation.id
    AND (pause.until IS NULL OR pause.until > clock_timestamp())
WHERE conversation.contact_id = ANY (%s::bigint[])
ORDER BY conversation.id
"""
GENERATIONS: Final = """
SELECT workspace_id, number FROM automations_triggergeneration WHERE workspace_id = ANY (%s::bigint[])
"""
ENABLED: Final = """
SELECT automation.workspace_id, version.flow -> 'trigger', automation.id, automation.published_id, automation.platform,
    automation.name, automation.reentry, automation.reentry_days, automation.stops_on_reply, automation.catch_all,
    automation.uuid
FROM automations_automation automation
JOIN automations_automationversion version ON version.id = automation.published_id
WHERE automation.workspace_id = ANY (%s::bigint[]) AND automation.enabled
ORDER BY automation.workspace_id, automation.created_at, automation.id
"""
ENTRIES: Final = """
SELECT run.automation_id, run.contact_id, max(run.started_at) FROM automations_automationrun run
WHERE run.contact_id = ANY (%s::bigint[]) AND run.automation_id = ANY (%s::bigint[])
GROUP BY run.automation_id, run.contact_id
"""

# A.I. steps read this much of a conversation.
MOST_HISTORY: Final = 10
HISTORY: Final = """
SELECT direction, left(text, %s) FROM conversations_message
WHERE conversation_id = %s ORDER BY provider_time DESC, id DESC LIMIT %s
"""


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
    """A workspace's settings that flows read."""

    pk: int
    timezone: str
    currency: str
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


class TriggerCache:
    """Compiled triggers of workspaces, each under its generation, and the flows of versions, which never change.

    A process has one. The workspaces that were used least lately are dropped.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[int, WorkspaceTriggers] = OrderedDict()
        self._flows: OrderedDict[int, VersionValues] = OrderedDict()

    def triggers_of(self, workspaces: Collection[int]) -> dict[int, WorkspaceTriggers]:
        """Return the triggers of these workspaces, as of now: one statement, and one more for those that changed."""
        generations: dict[int, int] = dict(_fetch(GENERATIONS, integers(workspaces)))
        stale = [
            one
            for one in workspaces
            if one not in self._known or self._known[one].generation != generations.get(one, 0)
        ]
        if stale:
            self._load(stale, generations)
        for one in workspaces:
            self._known.move_to_end(one)
        found = {one: self._known[one] for one in workspaces}
        while len(self._known) > 1 and sum(len(one.automations) for one in self._known.values()) > MOST_COMPILED:
            self._known.popitem(last=False)
        return found

    def _load(self, workspaces: Collection[int], generations: Mapping[int, int]) -> None:
        sources: defaultdict[int, list[TriggerSource]] = defaultdict(list)
        automations: defaultdict[int, dict[int, EnabledTrigger]] = defaultdict(dict)
        for workspace, trigger, *columns in _fetch(ENABLED, integers(workspaces)):
            told, one = _json(trigger), EnabledTrigger(*columns)
            sources[workspace].append(
                TriggerSource(
                    automation_id=one.automation_id,
                    version_id=one.version_id,
                    platform=one.platform,
                    trigger_type=told["type"],
                    config=told.get("config") or {},
                    created_order=len(sources[workspace]),
                )
            )
            automations[workspace][one.automation_id] = one
        for workspace in workspaces:
            on = automations[workspace]
            limited = frozenset(pk for pk, one in on.items() if one.reentry != "always" or one.catch_all)
            compiled = compile_triggers(sources[workspace])
            self._known[workspace] = WorkspaceTriggers(generations.get(workspace, 0), compiled, on, limited)

    def versions(self, versions: Iterable[int]) -> dict[int, VersionValues]:
        """Return the flows of these versions; one statement for those that are not known yet."""
        wanted = set(versions)
        missing = [one for one in wanted if one not in self._flows]
        if missing:
            rows = AutomationVersion.objects.filter(pk__in=missing)
            for pk, flow, name in rows.values_list("pk", "flow", "automation__name"):
                self._flows[pk] = VersionValues(flow, name, has_ai(flow))
        found = {one: self._flows[one] for one in wanted}
        for one in wanted:
            self._flows.move_to_end(one)
        while len(self._flows) > MOST_FLOWS:
            self._flows.popitem(last=False)
        return found


def read_work(contacts: Sequence[int], *, cache: TriggerCache) -> list[ContactWork]:
    """Read the work of locked contacts, in the order of their keys."""
    rows = _fetch(CONTACTS, integers(contacts))
    workspaces = _workspace_values({row[11] for row in rows})
    triggers = cache.triggers_of({row[11] for row in rows})
    work = {row[0]: _work(row, workspaces, triggers) for row in sorted(rows)}
    for event in map(_event, _fetch(EVENTS, LONGEST_TEXT, integers(work), MOST_EVENTS)):
        work[event.contact_id].events.append(event)
    for run in map(_run, _fetch(RUNS, integers(work), MOST_RUNS)):
        work[run.contact_id].runs.append(run)
    for row in _fetch(CONVERSATIONS, integers(work)):
        conversation = ConversationRow(*row)
        work[conversation.contact_id].conversations[conversation.id] = conversation
    _read_entries(work)
    return list(work.values())


def read_history(conversation: int) -> list[tuple[str, str]]:
    """Return the latest messages of a conversation, oldest first, each with its side."""
    rows = _fetch(HISTORY, LONGEST_TEXT, conversation, MOST_HISTORY)
    return [("contact" if direction == "in" else "business", text) for direction, text in reversed(rows) if text]


def _read_entries(work: Mapping[int, ContactWork]) -> None:
    """Read when contacts last entered automations that they may not enter again at once, such as catch-all ones."""
    asked = {pk: contact for pk, contact in work.items() if contact.events and contact.triggers.limited}
    if asked:
        limited = frozenset[int]().union(*(contact.triggers.limited for contact in asked.values()))
        for automation, contact, at in _fetch(ENTRIES, integers(asked), integers(limited)):
            work[contact].last_entries[automation] = at


def _workspace_values(workspaces: Collection[int]) -> dict[int, WorkspaceValues]:
    found = Workspace.objects.filter(pk__in=workspaces)
    return {
        one.pk: WorkspaceValues(one.pk, one.timezone, one.currency, one.opening_hours, settings_in_texts(one))
        for one in found
    }


def _work(
    row: Sequence[Any], workspaces: Mapping[int, WorkspaceValues], triggers: Mapping[int, WorkspaceTriggers]
) -> ContactWork:
    attributes = _json(row[8]) or {}
    values = ContactValues(
        name=row[2],
        phone=row[3] or "",
        email=row[4] or "",
        city=attributes.get("city", ""),
        country=row[5] or "",
        language=attributes.get("language", ""),
        timezone=row[6] or "",
        tags=frozenset(row[7]),
        fields=attributes,
        wants_marketing=row[10],
    )
    return ContactWork(
        pk=row[0],
        uuid=row[1],
        values=values,
        is_opted_out=row[9],
        agency_id=row[12],
        restored_at=row[13],
        workspace=workspaces[row[11]],
        triggers=triggers[row[11]],
        caps=Caps(*row[14:21]),
    )


def _event(row: Sequence[Any]) -> EventRow:
    texts = (row[12] or "", row[13] or "", row[14] or "", str(row[15] or ""), row[16] or "")
    return EventRow(*row[:8], _json(row[8]) or {}, *row[9:12], *texts)


def _run(row: Sequence[Any]) -> RunRow:
    state = state_from_row(
        token=row[1].hex,
        node=row[8],
        seq=row[9],
        messages=row[10],
        data=_json(row[11]) or {},
        wait_kind=row[12],
        wait_key=row[13],
        wait_until=row[14],
    )
    return RunRow(
        pk=row[0],
        uuid=row[1],
        contact_id=row[2],
        automation_id=row[3],
        version_id=row[4],
        channel_id=row[5],
        conversation_id=row[6],
        status=row[7],
        state=state,
        wait_kind=row[12],
        wait_until=row[14],
        depth=row[15],
        subject=row[16],
        comment=row[17],
        started_at=row[18],
        started_by_kind=row[19],
    )


def _json(value: Any) -> Any:
    return orjson.loads(value) if isinstance(value, str | bytes) else value


def _fetch(statement: str, *values: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()
