"""Reads all that a batch of locked contacts needs, in a constant number of statements."""

from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from random import sample
from typing import Any, Final

import orjson
from django.db import connection

from config.postgresql.arrays import integers
from workspaces.automations.engine.rows import (
    Caps,
    ContactWork,
    ConversationRow,
    EnabledTrigger,
    EventRow,
    RunRow,
    VersionValues,
    WorkspaceTriggers,
    WorkspaceValues,
)
from workspaces.automations.execution.interpreter import state_from_row
from workspaces.automations.execution.keywords import TriggerSource, compile_triggers
from workspaces.automations.execution.types import ContactValues
from workspaces.automations.flows.flow import has_ai
from workspaces.contacts.services.fields import read_phone
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import settings_in_texts

MOST_EVENTS: Final = 50
MOST_RUNS: Final = 200
LONGEST_TEXT: Final = 500
# The memory for compiled triggers, for flows and for settings, counted in automations, in versions and in workspaces.
MOST_COMPILED: Final = 250_000
MOST_FLOWS: Final = 5_000
MOST_WORKSPACES: Final = 5_000

# Each contact's rows are looked up by index. Left to choose, the planner reads whole tables of middling size.
CONTACTS: Final = """
SELECT contact.id, contact.uuid, contact.name, contact.phone, contact.email, contact.country, contact.timezone,
    contact.tag_keys, contact.attributes, contact.opted_out_at IS NOT NULL,
    contact.marketing_opted_out_at IS NULL, contact.workspace_id, workspace.agency_id,
    greatest(workspace.restored_at, agency.restored_at),
    queued.minute_began_at, queued.minute_count, queued.day_began_at, queued.day_count, queued.last_text_digest,
    queued.last_text_count, queued.last_text_at,
    workspace.xmin::text || workspace.ctid::text || coalesce(page.xmin::text || page.ctid::text, '')
FROM unnest(%s::bigint[]) AS due (contact_id)
CROSS JOIN LATERAL (SELECT * FROM contacts_contact WHERE id = due.contact_id LIMIT 1) AS contact
CROSS JOIN LATERAL (SELECT * FROM automations_contactqueue WHERE contact_id = due.contact_id LIMIT 1) AS queued
JOIN subaccounts_workspace workspace ON workspace.id = contact.workspace_id
JOIN agency_agency agency ON agency.id = workspace.agency_id
LEFT JOIN appointments_bookingpage page ON page.workspace_id = workspace.id
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
FROM unnest(%s::bigint[]) AS due (contact_id) CROSS JOIN LATERAL (
    SELECT * FROM conversations_conversation WHERE contact_id = due.contact_id OFFSET 0
) AS conversation
JOIN subaccounts_channel channel ON channel.id = conversation.channel_id
LEFT JOIN automations_automationpause pause ON pause.conversation_id = conversation.id
    AND (pause.until IS NULL OR pause.until > clock_timestamp())
ORDER BY conversation.id
"""
GENERATIONS: Final = """
SELECT workspace_id, number FROM automations_triggergeneration WHERE workspace_id = ANY (%s::bigint[])
"""
ENABLED: Final = """
SELECT automation.workspace_id, version.flow -> 'trigger', automation.id, automation.published_id, automation.platform,
    automation.name, automation.reentry, automation.reentry_days, automation.stops_on_reply, automation.catch_all,
    automation.uuid, automation.stops_on_booking
FROM automations_automation automation
JOIN automations_automationversion version ON version.id = automation.published_id
WHERE automation.workspace_id = ANY (%s::bigint[]) AND automation.enabled
ORDER BY automation.workspace_id, automation.created_at, automation.id
"""
FLOWS: Final = """
SELECT version.id, version.flow, automation.name FROM automations_automationversion version
JOIN automations_automation automation ON automation.id = version.automation_id
WHERE version.id = ANY (%s::bigint[])
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


class TriggerCache:
    """Compiled triggers of workspaces, settings of workspaces, and the flows of versions, which never change.

    Triggers are kept under their generation, and settings under the versions of the rows of the workspace and of its
    booking page. An engine has one.
    """

    def __init__(self) -> None:
        self._triggers: dict[int, WorkspaceTriggers] = {}
        self._compiled = 0
        self._workspaces: dict[int, tuple[str, WorkspaceValues]] = {}
        self._flows: OrderedDict[int, VersionValues] = OrderedDict()

    def triggers_of(self, workspaces: Collection[int]) -> dict[int, WorkspaceTriggers]:
        """Return the triggers of these workspaces, as of now: one statement, and one more for those that changed."""
        generations: dict[int, int] = dict(_fetch(GENERATIONS, integers(workspaces)))
        stale = [
            one
            for one in workspaces
            if one not in self._triggers or self._triggers[one].generation != generations.get(one, 0)
        ]
        if stale:
            self._load(stale, generations)
        found = {one: self._triggers[one] for one in workspaces}
        self._drop_triggers()
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
            self._forget_triggers(workspace)
            self._triggers[workspace] = WorkspaceTriggers(generations.get(workspace, 0), compiled, on, limited)
            self._compiled += len(on)

    def _drop_triggers(self) -> None:
        """Keep the memory bounded. Workspaces take turns, so dropping the one used least lately would drop the next."""
        while self._compiled > MOST_COMPILED and len(self._triggers) > 1:
            for workspace in sample(sorted(self._triggers), 1 + len(self._triggers) // 20):
                self._forget_triggers(workspace)

    def _forget_triggers(self, workspace: int) -> None:
        known = self._triggers.pop(workspace, None)
        self._compiled -= len(known.automations) if known else 0

    def workspaces_of(self, rows: Mapping[int, str]) -> dict[int, WorkspaceValues]:
        """Return the settings of workspaces. `rows` has the version of each one's row; one statement for others."""
        stale = [one for one, row in rows.items() if one not in self._workspaces or self._workspaces[one][0] != row]
        if len(self._workspaces) + len(stale) > MOST_WORKSPACES:
            self._workspaces.clear()
            stale = list(rows)
        found = Workspace.objects.filter(pk__in=stale).select_related("booking_page") if stale else ()
        for workspace in found:
            self._workspaces[workspace.pk] = rows[workspace.pk], _workspace_values(workspace)
        return {one: self._workspaces[one][1] for one in rows}

    def version(self, version: int) -> VersionValues:
        """Return the flow of one version."""
        if version not in self._flows:
            self.read_versions([version])
        return self._flows[version]

    def read_versions(self, versions: Iterable[int]) -> None:
        """Read the flows of these versions, with one statement for those that are not known yet."""
        wanted = set(versions)
        for one in wanted & self._flows.keys():
            self._flows.move_to_end(one)
        if missing := wanted - self._flows.keys():
            for pk, told, name in _fetch(FLOWS, integers(missing)):
                flow = _json(told)
                self._flows[pk] = VersionValues(flow, name, has_ai(flow))
        while len(self._flows) > max(MOST_FLOWS, len(wanted)):
            self._flows.popitem(last=False)


def read_work(contacts: Sequence[int], *, cache: TriggerCache) -> list[ContactWork]:
    """Read the work of locked contacts, in the order of their keys."""
    rows = _fetch(CONTACTS, integers(contacts))
    workspaces = cache.workspaces_of({row[11]: row[21] for row in rows})
    triggers = cache.triggers_of(workspaces)
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


def _workspace_values(workspace: Workspace) -> WorkspaceValues:
    return WorkspaceValues(
        workspace.pk,
        workspace.timezone,
        workspace.currency,
        _country(workspace.phone),
        workspace.opening_hours,
        settings_in_texts(workspace),
    )


@lru_cache(maxsize=1_024)
def _country(phone: str) -> str:
    found = read_phone(phone) if phone else None
    return (found.country or "") if found else ""


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
    return EventRow._make((*row[:8], _json(row[8]) or {}, *row[9:12], *texts))


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


def _json(value: object) -> Any:
    return orjson.loads(value) if isinstance(value, str | bytes) else value


def _fetch(statement: str, *values: int | str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows: list[Any] = cursor.fetchall()
    return rows
