"""Picks the contacts that are due, in fair shares of their workspaces, and locks them without waiting.

A batch is named in `EngineBatch` before its work begins, and its row is deleted with the work. So the contacts of a
batch in which a process died are known. They become suspects, which are worked on one at a time with counted tries.
"""

from collections.abc import Collection, Sequence
from random import SystemRandom
from typing import Any, Final

import orjson
from django.db import connection, transaction

from config.postgresql.arrays import integers
from config.postgresql.concurrency import AdvisoryLock

MOST_WORKSPACES: Final = 200
MOST_MADE_DUE: Final = 2_000

# The clock of the statement, and not `clock_timestamp()`, because the index can be searched for it.
MAKE_DUE: Final = """
UPDATE automations_contactqueue SET is_due = true, due_since = ready_at, ready_at = NULL
WHERE contact_id = ANY (ARRAY (
    SELECT contact_id FROM automations_contactqueue
    WHERE NOT is_due AND ready_at IS NOT NULL AND ready_at <= statement_timestamp()
    ORDER BY ready_at LIMIT %(most)s FOR UPDATE SKIP LOCKED
))
"""
# The walk goes over the index from workspace to workspace. Of each it takes the contacts that are due for longest.
PICK: Final = """
WITH RECURSIVE found AS (
    (SELECT workspace_id FROM automations_contactqueue
    WHERE is_due AND NOT is_suspect AND workspace_id > %(after)s ORDER BY workspace_id, due_since LIMIT 1)
    UNION ALL
    SELECT next.workspace_id FROM found CROSS JOIN LATERAL (
        SELECT workspace_id FROM automations_contactqueue
        WHERE is_due AND NOT is_suspect AND workspace_id > found.workspace_id
        ORDER BY workspace_id, due_since LIMIT 1
    ) AS next
), chosen AS MATERIALIZED (
    SELECT found.workspace_id FROM found
    JOIN subaccounts_workspace workspace ON workspace.id = found.workspace_id AND workspace.status = 'active'
    JOIN agency_agency agency ON agency.id = workspace.agency_id AND agency.status = 'active'
    LIMIT %(workspaces)s
)
SELECT due.workspace_id, due.contact_id
FROM chosen CROSS JOIN LATERAL (
    SELECT workspace_id, contact_id FROM automations_contactqueue queued
    WHERE queued.is_due AND NOT queued.is_suspect AND queued.workspace_id = chosen.workspace_id
    ORDER BY queued.due_since LIMIT greatest(1, %(batch)s / (SELECT count(*) FROM chosen))
) AS due
"""
# Rows that others hold are left for the next turn, so no transaction waits for a contact, and none can deadlock. The
# contact and all its conversations are held with its place in the queue.
LOCK: Final = """
WITH queued AS MATERIALIZED (
    SELECT contact_id FROM automations_contactqueue WHERE contact_id = ANY (%(contacts)s::bigint[]) AND is_due
    ORDER BY contact_id FOR UPDATE SKIP LOCKED
), person AS MATERIALIZED (
    SELECT id FROM contacts_contact WHERE id IN (SELECT contact_id FROM queued)
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
), thread AS MATERIALIZED (
    SELECT id, contact_id FROM conversations_conversation WHERE contact_id IN (SELECT id FROM person)
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
)
SELECT person.id FROM person
LEFT JOIN (SELECT contact_id, count(*) AS held FROM thread GROUP BY contact_id) AS own ON own.contact_id = person.id
WHERE coalesce(own.held, 0)
    = (SELECT count(*) FROM conversations_conversation every WHERE every.contact_id = person.id)
"""
# The places of contacts that are gone. Their rows are locked by nobody who could still need them.
FORGET: Final = """
DELETE FROM automations_contactqueue WHERE contact_id = ANY (ARRAY (
    SELECT queued.contact_id FROM automations_contactqueue queued
    WHERE queued.contact_id = ANY (%(contacts)s::bigint[])
        AND NOT EXISTS (SELECT FROM contacts_contact WHERE id = queued.contact_id)
    ORDER BY queued.contact_id FOR UPDATE SKIP LOCKED
))
"""
# The commit does not wait for a disk: if PostgreSQL crashes, it takes back the batch, too.
BEGIN: Final = """
WITH quick AS (SELECT set_config('synchronous_commit', 'off', true))
INSERT INTO automations_enginebatch (worker, contacts, begun_at)
SELECT %(worker)s, %(contacts)s::jsonb, clock_timestamp() FROM quick
ON CONFLICT (worker) DO UPDATE SET contacts = EXCLUDED.contacts, begun_at = EXCLUDED.begun_at
"""
END: Final = "DELETE FROM automations_enginebatch WHERE worker = %(worker)s"
HOLD: Final = "SELECT pg_try_advisory_lock(%(lock)s, %(worker)s)"
RELEASE: Final = "SELECT pg_advisory_unlock(%(lock)s, %(worker)s)"
DEAD: Final = """
SELECT worker, contacts FROM automations_enginebatch
WHERE worker <> %(worker)s AND worker NOT IN (
    SELECT objid::bigint FROM pg_locks
    WHERE locktype = 'advisory' AND classid = %(lock)s AND objsubid = 2 AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
ORDER BY worker LIMIT 20 FOR UPDATE SKIP LOCKED
"""
SUSPECT: Final = """
UPDATE automations_contactqueue SET is_suspect = true WHERE contact_id = ANY (ARRAY (
    SELECT contact_id FROM automations_contactqueue WHERE contact_id = ANY (%(contacts)s::bigint[])
    ORDER BY contact_id FOR UPDATE))
"""
SUSPECTS: Final = """
SELECT contact_id FROM automations_contactqueue
WHERE is_suspect AND is_due AND contact_id > %(after)s ORDER BY contact_id LIMIT 1
"""
CLEAR: Final = "UPDATE automations_contactqueue SET is_suspect = false WHERE contact_id = %(contact)s"

# What is left of a contact in whose work processes died or errors occurred too often: its new facts start nothing, and
# its runs that were due fail. Support staff see the counted tries.
GIVE_UP: Final = """
WITH facts AS (
    UPDATE automations_triggerevent SET outcome = 'nothing', reason = 'internal_error', data = NULL
    WHERE contact_id = %(contact)s AND outcome IS NULL
)
UPDATE automations_automationrun SET status = 'failed', wait_kind = NULL, wait_until = NULL, wait_key = '',
    error_code = 'internal_error', error_node = node, ended_at = clock_timestamp(),
    error_message = 'Something went wrong on our side. Support staff can see it.'
WHERE contact_id = %(contact)s AND status IN ('running', 'waiting')
"""
REST: Final = """
UPDATE automations_contactqueue SET is_due = false, is_suspect = false, ready_at = NULL WHERE contact_id = %(contact)s
"""


class Picker:
    """Picks batches for one worker process. `worker` is its number, under which it holds an advisory lock."""

    def __init__(self, *, batch: int) -> None:
        random = SystemRandom()
        self.worker = random.randrange(1, 2**31)
        self._batch = batch
        self._after = 0
        self._after_suspect = 0

    def hold(self) -> None:
        """Show that this process lives, for as long as its connection does."""
        _execute(HOLD, worker=self.worker, lock=AdvisoryLock.AUTOMATION_BATCH.value)

    def release(self) -> None:
        """Show that this process works on nothing any more."""
        _execute(END, worker=self.worker)
        _execute(RELEASE, worker=self.worker, lock=AdvisoryLock.AUTOMATION_BATCH.value)

    def make_due(self) -> int:
        """Make contacts due whose waits have ended, by the database's clock. Return how many."""
        with connection.cursor() as cursor:
            cursor.execute(MAKE_DUE, {"most": MOST_MADE_DUE})
            return int(cursor.rowcount)

    def pick(self) -> list[int]:
        """Return contacts that are due, at most a batch, without locks. Workspaces take turns."""
        found = self._found(self._after)
        if not found and self._after:
            found = self._found(0)
        self._after = max((workspace for workspace, _ in found), default=0)
        return [contact for _, contact in found]

    def _found(self, after: int) -> list[tuple[int, int]]:
        values = {"after": after, "workspaces": MOST_WORKSPACES, "batch": self._batch}
        rows: list[tuple[int, int]] = _fetch(PICK, **values)
        return rows

    def begin(self, contacts: Collection[int]) -> None:
        """Name the contacts of the batch, and commit that."""
        with transaction.atomic(durable=True):
            _execute(BEGIN, worker=self.worker, contacts=orjson.dumps(list(contacts)).decode())

    def end(self) -> None:
        """Delete the batch's row, in the transaction of its work."""
        _execute(END, worker=self.worker)

    def next_suspect(self) -> int | None:
        """Return a contact in whose batch a process died, each in its turn."""
        rows = _fetch(SUSPECTS, after=self._after_suspect)
        self._after_suspect = rows[0][0] if rows else 0
        return int(rows[0][0]) if rows else None


def lock_contacts(contacts: Sequence[int]) -> list[int]:
    """Lock contacts with their conversations and their places in the queue. Return those that nobody else holds.

    The places of contacts that are gone are deleted.
    """
    locked = [int(row[0]) for row in _fetch(LOCK, contacts=integers(contacts))]
    if len(locked) < len(contacts):
        _execute(FORGET, contacts=integers(sorted(set(contacts) - set(locked))))
    return locked


def suspect_contacts_of_dead_workers(*, worker: int) -> int:
    """Mark the contacts of batches whose process died. Return how many batches there were."""
    with transaction.atomic(durable=True):
        dead = _fetch(DEAD, worker=worker, lock=AdvisoryLock.AUTOMATION_BATCH.value)
        for number, contacts in dead:
            held: list[int] = orjson.loads(contacts) if isinstance(contacts, str) else contacts
            _execute(SUSPECT, contacts=integers(sorted(held)))
            _execute(END, worker=number)
    return len(dead)


def suspect_contacts(contacts: Collection[int]) -> None:
    """Mark contacts in whose batch an error occurred, so that each is worked on alone."""
    with transaction.atomic(durable=True):
        _execute(SUSPECT, contacts=integers(sorted(contacts)))


def clear_suspect(contact: int) -> None:
    """Let a contact be worked on together with others again, in the transaction of its work."""
    _execute(CLEAR, contact=contact)


def give_up_contact(contact: int) -> int:
    """End everything that is open for a contact whose work failed too often. Return 1."""
    with transaction.atomic(durable=True):
        _execute(REST, contact=contact)  # it holds the contact's place until the end
        _execute(GIVE_UP, contact=contact)
    return 1


def _execute(statement: str, **values: int | str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def _fetch(statement: str, **values: int | str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows: list[Any] = cursor.fetchall()
    return rows
