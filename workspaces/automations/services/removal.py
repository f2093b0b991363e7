"""Removes old runs, events and counts, and removes or moves a contact's along with the contact."""

from collections.abc import Collection
from datetime import timedelta
from typing import Final

from django.db import connection
from django.utils.timezone import now

from config.retention import ExpiredRows, RetentionRule
from workspaces.automations.services.pauses import PAUSES
from workspaces.automations.services.run_control import StopReason, stop_and_count
from workspaces.automations.services.trigger_events import queue_contacts
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactLockHandler, ContactRemovalHandler
from workspaces.contacts.services.contacts import ContactMergeHandler

RUNS_KEPT: Final = timedelta(days=90)
EVENTS_KEPT: Final = timedelta(days=30)
COUNTS_KEPT: Final = timedelta(days=400)
QUEUES_KEPT: Final = timedelta(days=2)
BATCH: Final = 2_000

RUNS = ExpiredRows("automations_automationrun", "ended_at", RUNS_KEPT)
# Runs wait for up to a year, so the oldest rows may all be active. The index of each automation's ended runs finds the
# old ones.
DELETE_OLD_RUNS: Final = """
WITH old AS MATERIALIZED (
    SELECT id FROM automations_automationrun WHERE id = ANY (ARRAY (
        SELECT run.id FROM automations_automation AS automation
        CROSS JOIN LATERAL (
            SELECT id FROM automations_automationrun AS run
            WHERE run.automation_id = automation.id
                AND run.ended_at < statement_timestamp() - make_interval(secs => %(kept)s)
            LIMIT %(batch)s
        ) AS run
        LIMIT %(batch)s))
    FOR UPDATE SKIP LOCKED
), steps AS (
    DELETE FROM automations_automationrunstep WHERE run_id IN (SELECT id FROM old)
)
DELETE FROM automations_automationrun WHERE id IN (SELECT id FROM old)
"""


def forget_runs(batch: int = BATCH) -> int:
    """Delete a batch of old runs with their steps. Return how many runs."""
    with connection.cursor() as cursor:
        cursor.execute(DELETE_OLD_RUNS, {"kept": RUNS_KEPT.total_seconds(), "batch": batch})
        return int(cursor.rowcount)


EVENTS = ExpiredRows(
    "automations_triggerevent", "created_at", EVENTS_KEPT, order="created_at", of="outcome IS NOT NULL"
)
COUNTS = ExpiredRows("automations_automationcount", "day", COUNTS_KEPT)
QUEUES = ExpiredRows(
    "automations_contactqueue",
    "day_began_at",
    QUEUES_KEPT,
    key="contact_id",
    order="day_began_at",
    of="NOT is_due AND ready_at IS NULL",
)
# These contacts were sent nothing, so their rows count nothing.
DELETE_EMPTY_QUEUES: Final = """
DELETE FROM automations_contactqueue WHERE contact_id = ANY (ARRAY (
    SELECT contact_id FROM automations_contactqueue
    WHERE NOT is_due AND ready_at IS NULL AND day_began_at IS NULL AND NOT is_suspect
    LIMIT %s FOR UPDATE SKIP LOCKED))
"""


def forget_queues(batch: int = BATCH) -> int:
    """Delete a batch of queue rows with nothing to do and nothing to remember. Return how many."""
    with connection.cursor() as cursor:
        cursor.execute(DELETE_EMPTY_QUEUES, [batch])
        return int(cursor.rowcount) + QUEUES.forget(batch)


RUN_RULES: Final = (
    RetentionRule("automation_runs", RUNS_KEPT, forget_runs, RUNS.lag),
    EVENTS.rule("automation_events"),
    COUNTS.rule("automation_counts"),
    RetentionRule("automation_queues", QUEUES_KEPT, forget_queues, QUEUES.lag),
    PAUSES.rule("automation_pauses"),
)


# A contact that is removed or merged ----------------------------------------------------------------------


def lock_queues(contacts: Collection[int]) -> None:
    """Lock the contacts' queue rows, so that the engine works on none of them meanwhile."""
    queue_contacts(dict(Contact.objects.filter(pk__in=contacts).order_by("pk").values_list("pk", "workspace_id")))


REMOVE: Final = (
    """DELETE FROM automations_automationrunstep
    WHERE run_id IN (SELECT id FROM automations_automationrun WHERE contact_id = %(contact)s)""",
    "DELETE FROM automations_automationrun WHERE contact_id = %(contact)s",
    # New facts and decided ones have an index by contact each.
    "DELETE FROM automations_triggerevent WHERE contact_id = %(contact)s AND outcome IS NULL",
    "DELETE FROM automations_triggerevent WHERE contact_id = %(contact)s AND outcome IS NOT NULL",
    "DELETE FROM automations_internalcall WHERE contact_id = %(contact)s",
    "DELETE FROM automations_contactqueue WHERE contact_id = %(contact)s",
)


def remove_runs(contact: int) -> None:
    """Remove a contact's runs, events and queue row. The caller holds the contact's lock."""
    with connection.cursor() as cursor:
        for statement in REMOVE:
            cursor.execute(statement, {"contact": contact})


# The conversations have been moved before. A conversation that was joined into another one is gone.
FIND_CONFLICTS: Final = """
SELECT theirs.id
FROM automations_automationrun AS theirs
JOIN automations_automationrun AS own ON own.contact_id = %(kept)s AND own.status IN ('running', 'waiting')
    AND ((own.automation_id = theirs.automation_id AND own.subject = theirs.subject)
        OR (own.wait_kind = 'reply' AND theirs.wait_kind = 'reply' AND own.channel_id = theirs.channel_id))
WHERE theirs.contact_id = %(gone)s AND theirs.status IN ('running', 'waiting')
"""
MOVE: Final = (
    # A contact enters some automations only once; one of the two runs keeps the key.
    """UPDATE automations_automationrun AS theirs SET entry_key = ''
    WHERE theirs.contact_id = %(gone)s AND theirs.entry_key <> '' AND EXISTS (
        SELECT FROM automations_automationrun AS own WHERE own.contact_id = %(kept)s
            AND own.automation_id = theirs.automation_id AND own.entry_key = theirs.entry_key)""",
    """UPDATE automations_automationrun AS run SET contact_id = %(kept)s, conversation_id = (
        SELECT conversation.id FROM conversations_conversation AS conversation
        WHERE conversation.contact_id = %(kept)s AND conversation.channel_id = run.channel_id)
    WHERE run.contact_id = %(gone)s""",
    """UPDATE automations_triggerevent AS event SET contact_id = %(kept)s, conversation_id = (
        SELECT conversation.id FROM conversations_conversation AS conversation
        WHERE conversation.contact_id = %(kept)s AND conversation.channel_id = event.channel_id)
    WHERE event.id IN (
        SELECT id FROM automations_triggerevent WHERE contact_id = %(gone)s AND outcome IS NULL
        UNION ALL SELECT id FROM automations_triggerevent WHERE contact_id = %(gone)s AND outcome IS NOT NULL)""",
    """UPDATE automations_internalcall AS call SET contact_id = %(kept)s, conversation_id = (
        SELECT conversation.id FROM conversations_conversation AS conversation
        WHERE conversation.contact_id = %(kept)s AND conversation.channel_id = call.channel_id)
    WHERE call.contact_id = %(gone)s""",
    "DELETE FROM automations_contactqueue WHERE contact_id = %(gone)s",
)


def move_runs(kept: int, gone: int) -> None:
    """Move runs and events of the contact `gone` to `kept`, in the merge's transaction.

    Where both have a run of one automation, or both are asked something on one channel, the kept contact's run goes on
    and the other one is stopped.
    """
    keys = {"kept": kept, "gone": gone}
    with connection.cursor() as cursor:
        cursor.execute(FIND_CONFLICTS, keys)
        conflicting = [row[0] for row in cursor.fetchall()]
        stop_and_count(conflicting, StopReason.CONTACT_MERGED, now())
        for statement in MOVE:
            cursor.execute(statement, keys)


LOCK_HANDLER = ContactLockHandler("automations", lock_queues)
REMOVAL_HANDLER = ContactRemovalHandler("automations", remove_runs)
MERGE_HANDLER = ContactMergeHandler("automations", move_runs)
