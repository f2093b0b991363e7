"""Writes automations in bulk: many workspaces, each with many that are on."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson
from django.db import connection

from benchmarks.conversations.facts import channels
from workspaces.conversations.facts import ChannelReference, MessageReceived

WORDS = "table garden price haircut colour menu voucher delivery parking invoice opening booking refund allergy terrace"

INSERT = """
WITH made AS (
    INSERT INTO automations_automation (uuid, workspace_id, name, platform, trigger, draft, enabled, requires, slots,
        from_pack_name, from_original, trigger_digest, catch_all, created_at, updated_at)
    SELECT gen_random_uuid(), workspace_id, 'Automation ' || n, 'whatsapp', 'keyword',
        jsonb_set(%(flow)s::jsonb, '{trigger,config,keywords}', (
            SELECT jsonb_agg((string_to_array(%(words)s, ' '))[1 + (n + k) %% 15] || ' ' || n * 8 + k)
            FROM generate_series(0, 7) k)), false, '{}', '[]', '', '', md5(workspace_id || '-' || n), false, now(),
        now()
    FROM unnest(%(workspaces)s::bigint[]) workspace_id CROSS JOIN generate_series(1, %(each)s) n
    RETURNING id, draft
), version AS (
    INSERT INTO automations_automationversion (automation_id, number, flow, published_at, published_by)
    SELECT id, 1, draft, now(), 'bench' FROM made RETURNING automation_id, id
)
SELECT count(*) FROM version
"""
SWITCH_ON = """
UPDATE automations_automation automation SET enabled = true, published_id = version.id
FROM automations_automationversion version
WHERE version.automation_id = automation.id AND NOT automation.enabled
"""
FLOW = {
    "trigger": {"type": "keyword", "config": {"keywords": [], "match": "contains"}},
    "entry": "answer",
    "steps": [
        {"id": "answer", "type": "send_text", "config": {"text": "Thank you, {{contact.first_name}}."}, "next": {}}
    ],
}
AT_ONCE = 100_000
# Runs that wait for a month, with a place in the queue for each contact.
WAITING = """
WITH place AS (
    INSERT INTO automations_contactqueue (contact_id, workspace_id, agency_id, is_due, due_since, ready_at)
    SELECT -n, %(workspace)s, %(agency)s, false, now(), now() + interval '30 days' + n * interval '1 second'
    FROM generate_series(%(first)s, %(last)s) n
)
INSERT INTO automations_automationrun (uuid, workspace_id, automation_id, version_id, contact_id, channel_id, status,
    node, seq, messages, data, wait_kind, wait_key, wait_until, depth, subject, entry_key, comment, started_by_kind,
    started_by_label, error_code, error_node, error_message, started_at)
SELECT gen_random_uuid(), %(workspace)s, automation.id, automation.published_id, -n, 0, 'waiting', 'answer', 1, 0, '{}',
    'time', '', now() + interval '30 days' + n * interval '1 second', 0, '', '', '', 'system', '', '', '', '', now()
FROM generate_series(%(first)s, %(last)s) n CROSS JOIN (
    SELECT id, published_id FROM automations_automation WHERE workspace_id = %(workspace)s ORDER BY id LIMIT 1
) automation
"""


def automations(*, each: int, workspaces: int) -> list[ChannelReference]:
    """Make workspaces with a channel, each with so many automations of eight keywords; give the channels."""
    of = channels(workspaces)
    values: dict[str, Any] = {
        "flow": orjson.dumps(FLOW).decode(),
        "words": WORDS,
        "workspaces": [channel.workspace_id for channel in of],
        "each": each,
    }
    with connection.cursor() as cursor:
        cursor.execute(INSERT, values)
        cursor.execute(SWITCH_ON)
        cursor.execute("VACUUM ANALYZE automations_automation, automations_automationversion")
    return of


def waiting_runs(channel: ChannelReference, count: int) -> None:
    """Make runs that wait for weeks."""
    values = {"workspace": channel.workspace_id, "agency": channel.agency_id}
    with connection.cursor() as cursor:
        for first in range(1, count + 1, AT_ONCE):
            cursor.execute(WAITING, {**values, "first": first, "last": min(count, first + AT_ONCE - 1)})
        cursor.execute("VACUUM ANALYZE automations_automationrun, automations_contactqueue")


def keyword(number: int, each: int) -> str:
    """Give a keyword of an automation."""
    words: Sequence[str] = WORDS.split()
    automation, which = 1 + number % each, number % 8
    return f"{words[(automation + which) % 15]} {automation * 8 + which}"


def replace_texts_by_keywords(messages: Sequence[MessageReceived], each: int) -> list[MessageReceived]:
    """Give the messages with a keyword in each text."""
    return [replace(message, text=f"Hello, {keyword(number, each)} please?") for number, message in enumerate(messages)]
