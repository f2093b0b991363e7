"""Writes a batch's plan in its transaction, with a constant number of statements for runs, steps and messages."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import orjson
from django.db import connection

from agency.actors import SYSTEM, Actor
from config.postgresql.arrays import integers, texts, timestamps, uuids
from workspaces.automations.engine.effects import hand_over, make_effect
from workspaces.automations.engine.internal_calls import store_calls
from workspaces.automations.engine.planning import BatchPlan, EventResult, PlannedCall, PlannedTask
from workspaces.automations.engine.rows import ContactWork, RunRow
from workspaces.automations.services.outside_calls import NewCall, plan_calls
from workspaces.automations.services.run_failures import record_run_failures
from workspaces.contacts.services.tasks import NewTask, create_tasks
from workspaces.conversations.models import Conversation
from workspaces.conversations.services.automated import OutgoingDraft, queue_messages

INSERT_RUNS: Final = """
INSERT INTO automations_automationrun (uuid, workspace_id, automation_id, version_id, contact_id, channel_id,
    conversation_id, status, node, seq, messages, data, wait_kind, wait_key, wait_until, depth, subject, entry_key,
    event, comment, started_by_kind, started_by_label, error_code, error_node, error_message, started_at, ended_at)
SELECT uuid, workspace_id, automation_id, version_id, contact_id, channel_id, conversation_id, status, node, seq,
    messages, data::jsonb, wait_kind, wait_key, wait_until, depth, subject, entry_key, event, comment, started_by_kind,
    '', error_code, error_node, error_message, %(now)s, CASE WHEN wait_kind IS NULL THEN %(now)s END
FROM unnest(%(uuids)s::uuid[], %(workspaces)s::bigint[], %(automations)s::bigint[], %(versions)s::bigint[],
    %(contacts)s::bigint[], %(channels)s::bigint[], %(conversations)s::bigint[], %(statuses)s::text[],
    %(nodes)s::text[], %(seqs)s::integer[], %(messages)s::integer[], %(data)s::text[], %(wait_kinds)s::text[],
    %(wait_keys)s::text[], %(wait_untils)s::timestamptz[], %(depths)s::integer[], %(subjects)s::text[],
    %(entry_keys)s::text[], %(events)s::bigint[], %(comments)s::text[], %(started_by)s::text[],
    %(error_codes)s::text[], %(error_nodes)s::text[], %(error_messages)s::text[])
    AS new (uuid, workspace_id, automation_id, version_id, contact_id, channel_id, conversation_id, status, node, seq,
        messages, data, wait_kind, wait_key, wait_until, depth, subject, entry_key, event, comment, started_by_kind,
        error_code, error_node, error_message)
RETURNING uuid, id
"""
UPDATE_RUNS: Final = """
UPDATE automations_automationrun run
SET status = change.status, node = change.node, seq = change.seq, messages = change.messages,
    data = change.data::jsonb, wait_kind = change.wait_kind, wait_key = change.wait_key,
    wait_until = change.wait_until, error_code = change.error_code, error_node = change.error_node,
    error_message = change.error_message, ended_at = CASE WHEN change.wait_kind IS NULL THEN %(now)s::timestamptz END
FROM unnest(%(ids)s::bigint[], %(statuses)s::text[], %(nodes)s::text[], %(seqs)s::integer[], %(messages)s::integer[],
    %(data)s::text[], %(wait_kinds)s::text[], %(wait_keys)s::text[], %(wait_untils)s::timestamptz[],
    %(error_codes)s::text[], %(error_nodes)s::text[], %(error_messages)s::text[])
    AS change (id, status, node, seq, messages, data, wait_kind, wait_key, wait_until, error_code, error_node,
        error_message)
WHERE run.id = change.id
"""
INSERT_STEPS: Final = """
INSERT INTO automations_automationrunstep (run_id, seq, node, port, detail, message_id, other_messages, at)
SELECT run_id, seq, node, port, detail, message_id, other_messages::bigint[], at
FROM unnest(%s::bigint[], %s::integer[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s::text[],
    %s::timestamptz[]) AS done (run_id, seq, node, port, detail, message_id, other_messages, at)
"""
UPDATE_EVENTS: Final = """
UPDATE automations_triggerevent event
SET outcome = result.outcome, reason = result.reason, automation_id = result.automation_id, run_id = result.run_id,
    data = NULL
FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::bigint[], %s::bigint[])
    AS result (id, outcome, reason, automation_id, run_id)
WHERE event.id = result.id
"""
INSERT_COUNTS: Final = """
INSERT INTO automations_pendingcount (day, automations, versions, nodes, ports, numbers)
VALUES ((%s::timestamptz AT TIME ZONE 'UTC')::date, %s, %s, %s, %s, %s)
"""
# The limit keeps the planner from reading the new facts of all contacts, as it would do for an `EXISTS`.
UPDATE_QUEUE: Final = """
UPDATE automations_contactqueue queued
SET is_due = change.has_more, due_since = CASE WHEN change.has_more THEN clock_timestamp() ELSE queued.due_since END,
    ready_at = change.ready_at, minute_began_at = change.minute_began_at, minute_count = change.minute_count,
    day_began_at = change.day_began_at, day_count = change.day_count, last_text_digest = change.last_text_digest,
    last_text_count = change.last_text_count, last_text_at = change.last_text_at
FROM (
    SELECT told.*, (
        SELECT true FROM automations_triggerevent event
        WHERE event.contact_id = told.contact_id AND event.outcome IS NULL LIMIT 1
    ) IS NOT NULL AS has_more
    FROM unnest(%s::bigint[], %s::timestamptz[], %s::timestamptz[], %s::integer[], %s::timestamptz[], %s::integer[],
        %s::bigint[], %s::integer[], %s::timestamptz[])
        AS told (contact_id, ready_at, minute_began_at, minute_count, day_began_at, day_count, last_text_digest,
            last_text_count, last_text_at)
) AS change
WHERE queued.contact_id = change.contact_id
"""
LONGEST_DETAIL: Final = 200
LONGEST_ERROR: Final = 500


def write_plan(plan: BatchPlan) -> None:
    """Write everything that a batch has decided."""
    write_runs(plan)
    messages = write_messages(plan)
    for planned in plan.effects:
        make_effect(planned, now=plan.now, by=actor_of(plan.labels[planned.run.version_id]))
    for _, conversation in plan.hand_overs:
        rows = Conversation.objects.select_related("workspace", "channel", "contact")
        hand_over(rows.get(pk=conversation), now=plan.now, by=SYSTEM)
    write_tasks(plan)
    write_steps(plan, messages)
    plan_calls([_call(one) for one in plan.calls], now=plan.now)
    plan.stored_calls = store_calls(plan.internal_calls, plan.labels.__getitem__)
    write_events(plan.events)
    record_run_failures([run.pk for run in plan.failed if run.pk is not None], plan.now)
    write_queue(plan.work)
    write_counts(plan)


def write_tasks(plan: BatchPlan) -> None:
    """Create the tasks of all steps. What is refused about a task is kept as the detail of its step."""
    refusals = create_tasks(tasks=[_task(planned, plan) for planned in plan.tasks], now=plan.now)
    for planned, refusal in zip(plan.tasks, refusals, strict=True):
        planned.step.detail = refusal or planned.step.detail


def _task(planned: PlannedTask, plan: BatchPlan) -> NewTask:
    hours = planned.effect.due_hours
    return NewTask(
        workspace_id=planned.work.workspace.pk,
        contact_id=planned.work.pk,
        title=planned.effect.title,
        due_at=plan.now + timedelta(hours=hours) if hours else None,
        assigned_to=planned.effect.email,
        by=actor_of(plan.labels[planned.run.version_id]),
    )


def actor_of(label: str) -> Actor:
    """Return the actor for the changes that an automation makes."""
    return Actor(kind="automation", id="", label=label)


def _call(planned: PlannedCall) -> NewCall:
    run = planned.run
    return NewCall(
        run_id=run.pk or 0,
        run_uuid=run.uuid,
        seq=planned.seq,
        agency_id=planned.work.agency_id,
        workspace_id=planned.work.workspace.pk,
        contact_id=run.contact_id,
        effect=planned.call,
        channel_id=run.channel_id,
        conversation_id=run.conversation_id,
        depth=run.depth,
    )


def write_runs(plan: BatchPlan) -> None:
    """Write changed and new runs. New ones get their keys.

    Runs that stop listening are written before those that begin to, because a conversation has one that listens.
    """
    changed = sorted(plan.changed_runs.values(), key=lambda run: run.pk or 0)
    _update_runs([run for run in changed if not run.listens], plan.now)
    _update_runs([run for run in changed if run.listens], plan.now)
    if plan.new_runs:
        workspaces = {work.pk: work.workspace.pk for work in plan.work}
        with connection.cursor() as cursor:
            cursor.execute(INSERT_RUNS, _new_columns(plan.new_runs, workspaces, plan.now))
            keys = dict(cursor.fetchall())
        for run in plan.new_runs:
            run.pk = keys[run.uuid]


def _update_runs(runs: Sequence[RunRow], now: datetime) -> None:
    if runs:
        with connection.cursor() as cursor:
            cursor.execute(UPDATE_RUNS, {"now": now, "ids": integers([run.pk for run in runs]), **_state_columns(runs)})


def _state_columns(runs: Sequence[RunRow]) -> dict[str, str]:
    return {
        "statuses": texts([run.status for run in runs]),
        "nodes": texts([run.state.node for run in runs]),
        "seqs": integers([run.state.seq for run in runs]),
        "messages": integers([run.state.messages for run in runs]),
        "data": texts([orjson.dumps(run.state.to_json()).decode() for run in runs]),
        "wait_kinds": texts([run.wait_kind for run in runs]),
        "wait_keys": texts([run.state.wait.key if run.state.wait and run.wait_kind else "" for run in runs]),
        "wait_untils": timestamps([run.wait_until for run in runs]),
        "error_codes": texts([run.error_code for run in runs]),
        "error_nodes": texts([run.error_node for run in runs]),
        "error_messages": texts([run.error_message[:LONGEST_ERROR] for run in runs]),
    }


def _new_columns(runs: Sequence[RunRow], workspaces: Mapping[int, int], now: datetime) -> dict[str, str | datetime]:
    return {
        "now": now,
        "uuids": uuids([run.uuid for run in runs]),
        "workspaces": integers([workspaces[run.contact_id] for run in runs]),
        "automations": integers([run.automation_id for run in runs]),
        "versions": integers([run.version_id for run in runs]),
        "contacts": integers([run.contact_id for run in runs]),
        "channels": integers([run.channel_id for run in runs]),
        "conversations": integers([run.conversation_id for run in runs]),
        "depths": integers([run.depth for run in runs]),
        "subjects": texts([run.subject for run in runs]),
        "entry_keys": texts([run.entry_key for run in runs]),
        "events": integers([run.event for run in runs]),
        "comments": texts([run.comment for run in runs]),
        "started_by": texts([run.started_by_kind for run in runs]),
        **_state_columns(runs),
    }


def write_messages(plan: BatchPlan) -> list[int]:
    """Queue the messages of all runs, in their order. Return the keys of their rows."""
    drafts = [
        OutgoingDraft(
            conversation_id=one.conversation_id,
            workspace_id=one.work.workspace.pk,
            agency_id=one.work.agency_id,
            channel_id=one.work.conversations[one.conversation_id].channel_id,
            content=one.content,
            sent_by_label=one.label,
        )
        for one in plan.messages
    ]
    return [pk for pk, _ in queue_messages(drafts, now=plan.now)] if drafts else []


def write_steps(plan: BatchPlan, messages: Sequence[int]) -> None:
    """Write the steps that runs have done, each with its messages."""
    steps = plan.steps
    if steps:
        columns = [
            integers([one.run.pk for one in steps]),
            integers([one.seq for one in steps]),
            texts([one.node for one in steps]),
            texts([one.port for one in steps]),
            texts([one.detail[:LONGEST_DETAIL] for one in steps]),
            integers([messages[one.messages[0]] if one.messages else None for one in steps]),
            texts([integers([messages[at] for at in one.messages[1:]]) if one.messages[1:] else None for one in steps]),
            timestamps([one.at for one in steps]),
        ]
        with connection.cursor() as cursor:
            cursor.execute(INSERT_STEPS, columns)


def write_events(events: Sequence[EventResult]) -> None:
    """Write what became of each fact. The fact's own values are not needed any more."""
    if events:
        columns = [
            integers([one.event for one in events]),
            texts([one.outcome for one in events]),
            texts([one.reason for one in events]),
            integers([one.automation_id for one in events]),
            integers([one.run.pk if one.run else None for one in events]),
        ]
        with connection.cursor() as cursor:
            cursor.execute(UPDATE_EVENTS, columns)


def write_counts(plan: BatchPlan) -> None:
    """Write what the batch has counted as one row, which `merge_counts` adds to the counts of the day."""
    keys = list(plan.counts)
    if keys:
        columns = [
            integers([key[0] for key in keys]),
            integers([key[1] for key in keys]),
            texts([key[2] for key in keys]),
            texts([key[3] for key in keys]),
            integers([plan.counts[key] for key in keys]),
        ]
        with connection.cursor() as cursor:
            cursor.execute(INSERT_COUNTS, [plan.now, *columns])


def write_queue(work: Iterable[ContactWork]) -> None:
    """Let the contacts wait until their next deadline, or leave them due if they have more new facts.

    Those are facts beyond the batch's bound, and facts that this batch itself has caused.
    """
    rows = list(work)
    if not rows:
        return
    caps = [one.caps for one in rows]
    columns = [
        integers([one.pk for one in rows]),
        timestamps([_next_deadline(one) for one in rows]),
        timestamps([one.minute_began_at for one in caps]),
        integers([one.minute_count for one in caps]),
        timestamps([one.day_began_at for one in caps]),
        integers([one.day_count for one in caps]),
        integers([one.last_text_digest for one in caps]),
        integers([one.last_text_count for one in caps]),
        timestamps([one.last_text_at for one in caps]),
    ]
    with connection.cursor() as cursor:
        cursor.execute(UPDATE_QUEUE, columns)


def _next_deadline(work: ContactWork) -> datetime | None:
    return min((run.wait_until for run in work.runs if run.is_active and run.wait_until), default=None)
