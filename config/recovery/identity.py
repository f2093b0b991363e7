"""Is this the database that the workers have worked with, and in no earlier state?

A restore, or a standby that lagged when it was promoted, takes claims back. Messages sent since then would be sent once
more. So a worker that calls the outside world asks here first, and claims nothing until `after_restore` has run.
"""

import logging
from datetime import datetime
from typing import Any, Final, Protocol

from config.redis import RedisUnavailable, call_redis

logger = logging.getLogger(__name__)

# The timeline is read from the name of the log's file: `pg_control_checkpoint` gives a promoted server's timeline only
# after its next checkpoint. The position is on the disk already, so a crash takes nothing of it back. A standby has
# neither.
SERVER: Final = """
SELECT system_identifier, ('x' || left(pg_walfile_name(log.flushed), 8))::bit(32)::bigint AS timeline,
    (log.flushed - '0/0'::pg_lsn)::bigint AS position
FROM pg_control_system()
CROSS JOIN (SELECT CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_flush_lsn() END AS flushed) AS log
"""
LOOK: Final = f"""
SELECT server.system_identifier, known.id IS NOT NULL,
    known.doubted_at IS NULL AND known.system_identifier = server.system_identifier
    AND known.timeline = server.timeline AND known.xmin::text::bigint = known.written_by
FROM ({SERVER}) AS server LEFT JOIN recovery_databaseidentity known ON known.id = 1
"""  # noqa: S608  # texts of our own
# A row's writer (`xmin`) is known only once the row is there. Both statements are in one transaction, or in one part of
# one.
WRITE: Final = f"""
DO $$
BEGIN
    INSERT INTO recovery_databaseidentity AS known
        (id, system_identifier, timeline, written_by, confirmed_at, doubted_at)
    SELECT 1, system_identifier, timeline, 0, clock_timestamp(), NULL FROM ({SERVER}) AS server
    ON CONFLICT (id) {{}};
    IF FOUND THEN
        UPDATE recovery_databaseidentity SET written_by = xmin::text::bigint;
    END IF;
END $$
"""  # noqa: S608  # texts of our own
BEGIN: Final = WRITE.format("DO NOTHING")
CONFIRM: Final = WRITE.format(
    """DO UPDATE SET system_identifier = excluded.system_identifier, timeline = excluded.timeline,
    confirmed_at = excluded.confirmed_at, doubted_at = NULL"""
)
DOUBT: Final = "UPDATE recovery_databaseidentity SET doubted_at = clock_timestamp() WHERE doubted_at IS NULL"
POSITION: Final = f"SELECT system_identifier, position FROM ({SERVER}) AS server"  # noqa: S608  # a text of our own
KEY: Final = "recovery:position:{}"


class Executor(Protocol):
    """A worker's connection or a Django cursor."""

    def execute(self, query: str, /) -> object: ...


def is_confirmed(executor: Executor) -> bool:
    """Return whether nothing is known against this database.

    The first worker of an installation confirms its database by this call.
    """
    server, is_there, is_known = _row(executor, LOOK)
    if not is_there:
        executor.execute(BEGIN)
        server, _, is_known = _row(executor, LOOK)
    if is_known and _lies_behind(executor, server):
        executor.execute(DOUBT)
        return False
    return bool(is_known)


def waits_for_confirmation(executor: Executor) -> bool:
    """Return whether the database says that workers wait for `after_restore`; False for a standby. Writes nothing."""
    _, is_there, is_known = _row(executor, LOOK)
    return bool(is_there and is_known is False)


def last_confirmed(executor: Executor) -> datetime | None:
    """Return when the database was last confirmed. The time stays the same until it is confirmed anew."""
    found = _row(executor, "SELECT confirmed_at FROM recovery_databaseidentity")
    return found[0] if found else None


def confirm(executor: Executor) -> None:
    """Record that this database, as it is, is the one to work with."""
    executor.execute(CONFIRM)
    server, position = _row(executor, POSITION)
    _remember(server, position)


def _row(executor: Any, statement: str) -> Any:
    return (executor.execute(statement) or executor).fetchone()


def _lies_behind(executor: Executor, server: int) -> bool:
    """Return whether Redis knows a later position of this server; False if Redis is away.

    Redis is read before the position, so a position that another worker stores in between does not count.
    """
    try:
        known = call_redis(lambda redis: redis.get(KEY.format(server)))
    except RedisUnavailable:
        return False
    _, position = _row(executor, POSITION)
    if known is not None and int(known) > position:
        logger.error("the database lies behind what was known of it", extra={"bytes": int(known) - position})
        return True
    _remember(server, position)
    return False


def _remember(server: int, position: int) -> None:
    try:
        call_redis(lambda redis: redis.set(KEY.format(server), position))
    except RedisUnavailable:
        logger.warning("what is known of the database could not be kept in Redis")
