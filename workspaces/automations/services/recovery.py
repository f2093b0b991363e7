"""After a restore from a backup: what automations may have done already is not done again."""

from datetime import datetime
from typing import Final, NamedTuple

from django.db import connection, transaction

RESTORED: Final = "database_restored"
BATCH: Final = 2_000

# Facts that were new in the backup may have been answered since.
FACTS: Final = """
UPDATE automations_triggerevent SET outcome = 'nothing', reason = %(reason)s, data = NULL
WHERE id = ANY (ARRAY (
    SELECT id FROM automations_triggerevent WHERE outcome IS NULL ORDER BY contact_id, id LIMIT %(batch)s FOR UPDATE))
"""
# A run that waits for a moment to come cannot have gone on since. Every other active run may have.
RUNS: Final = """
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
    return StoppedAfterRestore(_repeat(FACTS, now), _repeat(RUNS, now))


def _repeat(statement: str, now: datetime) -> int:
    number = 0
    while done := _do(statement, now):
        number += done
    return number


@transaction.atomic
def _do(statement: str, now: datetime) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, {"reason": RESTORED, "now": now, "batch": BATCH})
        return int(cursor.rowcount)
