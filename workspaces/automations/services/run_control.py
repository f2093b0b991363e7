"""Starts, stops and retries runs at the request of people, API keys and other apps.

Each service locks the contact's row in `ContactQueue` before it reads runs. The engine does the same, so the two never
work on one contact at the same time. The lock also makes the contact due, so that the engine looks at it afterwards.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

from django.db import connection, transaction

from agency.actors import Actor
from config.errors import Conflict, NotFound
from config.postgresql.arrays import integers
from workspaces.automations.execution.interpreter import begin_state
from workspaces.automations.models import Automation, AutomationRun
from workspaces.automations.services.drafts import lock_automation, record_automation_activity
from workspaces.automations.services.trigger_events import queue_contacts
from workspaces.contacts.models import Contact
from workspaces.contacts.services import ContactNotFound
from workspaces.conversations.models import Conversation
from workspaces.conversations.services import open_conversation, reachable_channels
from workspaces.conversations.services.automated import withdraw_queued_messages
from workspaces.conversations.services.conversations import ContactOptedOut
from workspaces.subaccounts.models import CHANNEL_NAMES, Channel

# A run that begins, and that the engine does not take up within this time, ends.
BEGINS_WITHIN: Final = timedelta(days=1)
# So many runs of an automation are stopped in one transaction.
BATCH: Final = 200
MOST_STOPPED: Final = 10_000


class RunNotFound(NotFound):
    message = "Run not found."


class AutomationIsOff(Conflict):
    message = "This automation is off. Switch it on first."


class RunIsActive(Conflict):
    message = "This automation already runs for this contact."


class ContactNotReachable(Conflict):
    """The contact has no address on an active channel of the automation's channel type."""


class RunHasEnded(Conflict):
    message = "This run has ended."


class RunHasNotFailed(Conflict):
    message = "Only a run that has failed can be retried."


class StopReason(StrEnum):
    """The reason for which a run was stopped. The run keeps it as its `error_message`."""

    BY_PERSON = "by_person"
    OPTED_OUT = "opted_out"
    REPLIED = "replied"
    SWITCHED_OFF = "switched_off"
    CONTACT_MERGED = "contact_merged"
    REMOVED = "removed"


@transaction.atomic
def start_run(*, automation: Automation, contact: Contact, by: Actor, now: datetime) -> AutomationRun:
    """Start the published version for a contact. The engine does the first step in a moment.

    The re-entry rule does not apply, because somebody has asked for this run. Raises `AutomationIsOff`,
    `ContactOptedOut`, `ContactNotReachable`, `RunIsActive` and `ContactNotFound`.
    """
    locked = lock_automation(automation)
    version = locked.published
    if not locked.enabled or version is None:
        raise AutomationIsOff
    conversation = _conversation_for(locked, contact, now)
    queue_contacts({contact.pk: locked.workspace_id})
    _check_contact(contact.pk)
    if AutomationRun.objects.active().filter(automation=locked, contact_id=contact.pk).exists():
        raise RunIsActive
    identity = uuid.uuid4()
    state = begin_state(version.flow, token=identity.hex)
    run = AutomationRun.objects.create(
        uuid=identity,
        workspace=locked.workspace,
        automation=locked,
        version=version,
        contact_id=contact.pk,
        channel_id=conversation.channel_id,
        conversation_id=conversation.pk,
        status=AutomationRun.Status.RUNNING,
        node=state.node,
        data=state.to_json(),
        wait_kind=AutomationRun.WaitKind.BEGIN,
        wait_until=now + BEGINS_WITHIN,
        started_by_kind=by.kind,
        started_by_label=by.label,
        started_at=now,
    )
    _count_runs([ChangedRun(contact.pk, locked.pk, version.pk)], "started", now)
    return run


def _conversation_for(automation: Automation, contact: Contact, now: datetime) -> Conversation:
    """Find the contact's latest conversation on a channel that the automation can use, or open one."""
    active = automation.workspace.channels.filter(platform=automation.platform, status=Channel.Status.ACTIVE)
    channels = reachable_channels(contact, active.order_by("pk"))
    if not channels:
        raise ContactNotReachable(f"This contact cannot be reached on {CHANNEL_NAMES[automation.platform]}.")
    own = Conversation.objects.of(automation.workspace).filter(contact=contact, channel__in=channels)
    found = own.newest_activity_first().first()
    return found or open_conversation(contact=contact, channel=channels[0], now=now)


def _check_contact(contact: int) -> None:
    """Refuse a contact that has opted out or was removed. The caller holds the queue row, which a removal waits for."""
    found = Contact.objects.filter(pk=contact).values_list("opted_out_at").first()
    if found is None:
        raise ContactNotFound
    if found[0] is not None:
        raise ContactOptedOut


@transaction.atomic
def stop_run(*, run: AutomationRun, by: Actor, now: datetime) -> AutomationRun:
    """Stop a run, and withdraw its messages that have not left. Raises `RunHasEnded` and `RunNotFound`."""
    locked = lock_run(run)
    if locked.status not in AutomationRun.ACTIVE:
        raise RunHasEnded
    stop_and_count([locked.pk], StopReason.BY_PERSON, now)
    _withdraw_messages([locked.pk], now)
    record_automation_activity(locked.automation, "automation.run_stopped", by, run=str(locked.uuid))
    locked.refresh_from_db()
    return locked


@transaction.atomic
def retry_run(*, run: AutomationRun, by: Actor, now: datetime) -> AutomationRun:
    """Let a failed run go on at the step that failed, with the answers that it has.

    Raises `RunHasNotFailed`, `AutomationIsOff`, `ContactOptedOut`, `RunIsActive` and `RunNotFound`.
    """
    locked = lock_run(run)
    if locked.status != AutomationRun.Status.FAILED:
        raise RunHasNotFailed
    if not locked.automation.enabled:
        raise AutomationIsOff
    _check_contact(locked.contact_id)
    if AutomationRun.objects.active().filter(automation=locked.automation, contact_id=locked.contact_id).exists():
        raise RunIsActive
    locked.node = locked.error_node or locked.node
    locked.status, locked.ended_at, locked.tries = AutomationRun.Status.RUNNING, None, 0
    locked.wait_kind, locked.wait_until, locked.wait_key = AutomationRun.WaitKind.BEGIN, now + BEGINS_WITHIN, ""
    locked.error_code = locked.error_node = locked.error_message = ""
    locked.save()
    record_automation_activity(locked.automation, "automation.run_retried", by, run=str(locked.uuid))
    return locked


def lock_run(run: AutomationRun) -> AutomationRun:
    """Lock the contact's queue row and then the run, and read the run anew. Raises `RunNotFound`."""
    queue_contacts({run.contact_id: run.workspace_id})
    rows = AutomationRun.objects.select_for_update(of=("self",), no_key=True)
    locked: AutomationRun | None = (
        rows.select_related("automation__workspace", "version")
        .filter(pk=run.pk, contact_id=run.contact_id, automation__removed_at=None)
        .first()
    )
    if locked is None:
        raise RunNotFound
    return locked


# Stopping many ----------------------------------------------------------------------------------------


class ChangedRun(NamedTuple):
    """A run that was started or stopped, by the primary keys."""

    contact_id: int
    automation_id: int
    version_id: int


# In the order of their ids, so that two transactions do not wait for each other.
STOP: Final = """
WITH held AS MATERIALIZED (
    SELECT id FROM automations_automationrun
    WHERE {which} = ANY (%(keys)s::bigint[]) AND status IN ('running', 'waiting')
    ORDER BY id FOR NO KEY UPDATE
)
UPDATE automations_automationrun AS run
SET status = 'stopped', ended_at = %(now)s, wait_kind = NULL, wait_until = NULL, wait_key = '',
    error_message = %(reason)s
FROM held WHERE run.id = held.id
RETURNING run.contact_id, run.automation_id, run.version_id
"""
COUNT: Final = """
INSERT INTO automations_automationcount AS known (automation_id, version_id, day, node, port, number)
SELECT automation_id, version_id, (%(now)s AT TIME ZONE 'UTC')::date, '', %(port)s, count(*)
FROM unnest(%(automations)s::bigint[], %(versions)s::bigint[]) AS changed (automation_id, version_id)
GROUP BY automation_id, version_id ORDER BY automation_id, version_id
ON CONFLICT (automation_id, version_id, day, node, port) DO UPDATE SET number = known.number + excluded.number
"""
# A step may have sent several messages.
UNSENT: Final = """
SELECT queued.message_id FROM automations_automationrunstep step
CROSS JOIN LATERAL unnest(array_append(step.other_messages, step.message_id)) AS sent (id)
JOIN conversations_queuedmessage queued ON queued.message_id = sent.id
WHERE step.run_id = ANY (%(runs)s::bigint[]) AND step.message_id IS NOT NULL
"""


@transaction.atomic
def stop_runs(*, contacts: Mapping[int, int], reason: StopReason, now: datetime) -> int:
    """Stop all runs of contacts, such as those who opted out. Return how many.

    `contacts` maps each contact to its workspace. The engine may call it while it holds the contacts' queue rows.
    """
    if not contacts:
        return 0
    queue_contacts(contacts)
    return len(stop_and_count(contacts, reason, now, which="contact_id"))


def stop_runs_of_automation(
    *, automation: Automation, now: datetime, reason: StopReason = StopReason.SWITCHED_OFF, most: int = MOST_STOPPED
) -> int:
    """Stop the active runs of an automation that was switched off or removed, in short transactions. Return how many.

    It stops at `most` runs, so that a request ends in time. Call it again for the rest.
    """
    stopped, after = 0, 0
    while stopped < most and (contacts := _next_contacts(automation, after)):
        after = max(contacts)
        stopped += _stop_of_contacts(automation, contacts, reason, now)
    return stopped


def _next_contacts(automation: Automation, after: int) -> dict[int, int]:
    active = AutomationRun.objects.active().filter(automation=automation, contact_id__gt=after)
    return dict(active.order_by("contact_id", "subject").values_list("contact_id", "workspace_id")[:BATCH])


@transaction.atomic
def _stop_of_contacts(automation: Automation, contacts: Mapping[int, int], reason: StopReason, now: datetime) -> int:
    queue_contacts(contacts)
    active = AutomationRun.objects.active().filter(automation=automation, contact_id__in=contacts)
    runs = list(active.values_list("pk", flat=True))
    stopped = stop_and_count(runs, reason, now)
    _withdraw_messages(runs, now)
    return len(stopped)


def _withdraw_messages(runs: Collection[int], now: datetime) -> None:
    """Withdraw the messages of these runs that wait for the sender. One that a sender has claimed may still leave."""
    with connection.cursor() as cursor:
        cursor.execute(UNSENT, {"runs": integers(runs)})
        found = [key for (key,) in cursor.fetchall()]
    if found:
        withdraw_queued_messages(messages=found, now=now)


def stop_and_count(
    keys: Collection[int], reason: StopReason, now: datetime, *, which: str = "id"
) -> Sequence[ChangedRun]:
    """Stop the active ones of these runs, in the caller's transaction, which holds the contacts' queue rows."""
    with connection.cursor() as cursor:
        cursor.execute(STOP.format(which=which), {"keys": integers(keys), "now": now, "reason": reason.value})
        stopped = [ChangedRun(*row) for row in cursor.fetchall()]
    _count_runs(stopped, "stopped", now)
    return stopped


def _count_runs(runs: Sequence[ChangedRun], port: str, now: datetime) -> None:
    if not runs:
        return
    columns = {
        "automations": integers([one.automation_id for one in runs]),
        "versions": integers([one.version_id for one in runs]),
    }
    with connection.cursor() as cursor:
        cursor.execute(COUNT, {**columns, "port": port, "now": now})


# After a restore -----------------------------------------------------------------------------------


RESTORED: Final = "database_restored"
RESTORE_BATCH: Final = 2_000

# Facts that were new in the backup may have been answered since.
RESTORED_FACTS: Final = """
UPDATE automations_triggerevent SET outcome = 'nothing', reason = %(reason)s, data = NULL
WHERE id = ANY (ARRAY (
    SELECT id FROM automations_triggerevent WHERE outcome IS NULL ORDER BY contact_id, id LIMIT %(batch)s FOR UPDATE))
"""
# A run that waits for a moment to come cannot have gone on since. Every other active run may have.
RESTORED_RUNS: Final = """
UPDATE automations_automationrun
SET status = 'stopped', wait_kind = NULL, wait_key = '', wait_until = NULL, ended_at = %(now)s,
    error_message = %(reason)s
WHERE id = ANY (ARRAY (
    SELECT id FROM automations_automationrun
    WHERE status IN ('running', 'waiting') AND NOT (wait_kind = 'time' AND wait_until > %(now)s)
    ORDER BY contact_id LIMIT %(batch)s FOR UPDATE))
"""


class StoppedAfterRestore(NamedTuple):
    """How many facts start nothing, and how many runs were stopped."""

    facts: int
    runs: int


def stop_after_restore(*, now: datetime) -> StoppedAfterRestore:
    """Let new facts start nothing, and stop the runs that may have gone on since the backup.

    The work is done in short transactions, while the engines wait. If it breaks off, run it again.
    """
    return StoppedAfterRestore(_update_all(RESTORED_FACTS, now), _update_all(RESTORED_RUNS, now))


def _update_all(statement: str, now: datetime) -> int:
    number = 0
    while done := _update_batch(statement, now):
        number += done
    return number


@transaction.atomic
def _update_batch(statement: str, now: datetime) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, {"reason": RESTORED, "now": now, "batch": RESTORE_BATCH})
        return int(cursor.rowcount)
