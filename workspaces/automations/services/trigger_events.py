"""Records facts about contacts that may start or continue automations, in the fact's own transaction."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

import orjson
from django.db import connection

from config.celery import wake_up
from config.postgresql.arrays import integers, texts

# The name by which the engine is woken up.
ENGINE: Final = "automations"

# A fact is only worth a row where an automation is on, or where the contact has a run that could wait for it.
# The limits keep the planner from reading all automations and all runs that wait, as it may do for an `EXISTS`.
INSERT: Final = """
WITH told AS (
    SELECT * FROM unnest(%(workspaces)s::bigint[], %(contacts)s::bigint[], %(kinds)s::text[], %(keys)s::text[],
        %(channels)s::bigint[], %(conversations)s::bigint[], %(messages)s::bigint[], %(subjects)s::text[],
        %(data)s::text[], %(depths)s::integer[], %(causes)s::bigint[])
        AS told (workspace_id, contact_id, kind, source_key, channel_id, conversation_id, message_id, subject, data,
            depth, cause)
), new AS (
    INSERT INTO automations_triggerevent (workspace_id, contact_id, kind, source_key, channel_id, conversation_id,
        message_id, subject, data, depth, cause)
    SELECT workspace_id, contact_id, kind, source_key, channel_id, conversation_id, message_id, subject, data::jsonb,
        depth, cause
    FROM told
    WHERE (SELECT true FROM automations_automation automation
            WHERE automation.workspace_id = told.workspace_id AND automation.enabled LIMIT 1)
        OR (SELECT true FROM automations_automationrun run
            WHERE run.contact_id = told.contact_id AND run.status IN ('running', 'waiting') LIMIT 1)
    ON CONFLICT (workspace_id, source_key) DO NOTHING
    RETURNING workspace_id, contact_id
)
SELECT workspace_id, contact_id FROM new
"""
# In one order, so that two transactions do not wait for each other.
QUEUE: Final = """
INSERT INTO automations_contactqueue AS queued (contact_id, workspace_id, agency_id, is_due, due_since)
SELECT due.contact_id, due.workspace_id, workspace.agency_id, true, clock_timestamp()
FROM (SELECT DISTINCT * FROM unnest(%s::bigint[], %s::bigint[]) AS due (contact_id, workspace_id)) AS due
JOIN subaccounts_workspace workspace ON workspace.id = due.workspace_id
ORDER BY due.contact_id
ON CONFLICT (contact_id) DO UPDATE SET is_due = true, due_since = EXCLUDED.due_since WHERE NOT queued.is_due
"""


class NewTriggerEvent(NamedTuple):
    """A fact to record; the fields are those of `TriggerEvent`."""

    workspace_id: int
    contact_id: int
    kind: str
    source_key: str
    channel_id: int | None = None
    conversation_id: int | None = None
    message_id: int | None = None
    subject: str = ""
    data: Mapping[str, object] | None = None
    depth: int = 0
    cause: int | None = None


def record_trigger_events(events: Sequence[NewTriggerEvent]) -> int:
    """Record facts, each once by its `source_key`, and wake up the engine. Return how many were new.

    The caller's transaction is that of the fact.
    """
    if not events:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(INSERT, _columns(events))
        due: list[tuple[int, int]] = cursor.fetchall()
    queue_contacts({contact: workspace for workspace, contact in due})
    return len(due)


def queue_contacts(contacts: Mapping[int, int]) -> None:
    """Make contacts due for the engine. `contacts` maps each to its workspace."""
    if contacts:
        with connection.cursor() as cursor:
            cursor.execute(QUEUE, [integers(contacts), integers(contacts.values())])
        wake_up(ENGINE)


def _columns(events: Collection[NewTriggerEvent]) -> dict[str, str]:
    return {
        "workspaces": integers([one.workspace_id for one in events]),
        "contacts": integers([one.contact_id for one in events]),
        "kinds": texts([one.kind for one in events]),
        "keys": texts([one.source_key for one in events]),
        "channels": integers([one.channel_id for one in events]),
        "conversations": integers([one.conversation_id for one in events]),
        "messages": integers([one.message_id for one in events]),
        "subjects": texts([one.subject for one in events]),
        "data": texts([None if one.data is None else orjson.dumps(one.data).decode() for one in events]),
        "depths": integers([one.depth for one in events]),
        "causes": integers([one.cause for one in events]),
    }
