"""How database and counters are emptied after a test that commits."""

from functools import cache
from typing import Final

import redis
from django.conf import settings
from django.db import OperationalError, connection
from psycopg.errors import DeadlockDetected
from psycopg.pq import TransactionStatus

from tests.plugins.where import spent_on

# All tables but those that migrations fill and no test changes. Each is locked, so that whoever still writes is waited
# for, as Django's own TRUNCATE of everything would. That makes new files for each of hundreds of tables and indexes,
# though most tests leave a few rows in some of them.
EMPTY = """
DO $$
DECLARE
    one regclass;
    size bigint;
BEGIN
    PERFORM set_config('session_replication_role', 'replica', true);
    FOR one IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
        AND relname <> ALL ('{django_migrations,django_content_type,auth_permission}') ORDER BY relispartition, oid
    LOOP
        EXECUTE format('LOCK TABLE %s', one);
        size = pg_relation_size(one);
        IF size > 1000000 THEN
            EXECUTE format('TRUNCATE %s CASCADE', one);
        ELSIF size > 0 THEN
            EXECUTE format('DELETE FROM %s', one);
        END IF;
    END LOOP;
END $$
"""


TRIES = 5
# Agencies that tests share (`tests/furnished.py`), pickled, by their kind. They are gone when the database is emptied.
shared: dict[str, tuple[bytes, ...]] = {}


def empty_database() -> None:
    """Remove every row of every table, without the rules that rows have among each other.

    Whoever still writes, and holds a table that comes later, may meet these locks in a deadlock: then once more.
    """
    for number in range(1, TRIES + 1):
        try:
            with spent_on("emptying the database"), connection.cursor() as cursor:
                cursor.execute(EMPTY)
            shared.clear()
            return
        except OperationalError as error:
            if number == TRIES or not isinstance(error.__cause__, DeadlockDetected):
                raise


# All that a session keeps, but its prepared statements, because psycopg goes on to use them.
RESET_SESSION = """
CLOSE ALL; UNLISTEN *; SELECT pg_advisory_unlock_all(); DISCARD TEMP; RESET SESSION AUTHORIZATION; RESET ALL
"""
# The parameters of the connection with which a worker begins.
first_parameters: Final[dict[str, str]] = {}


def remember_connection() -> None:
    first_parameters.update(connection.connection.info.get_parameters())


def empty_after_test() -> None:
    """Empty the database, and reset the connection's session, or close a connection that is not as the first one was.

    Django would close every connection. But a new one knows no table yet: PostgreSQL takes five times as long to empty
    the database over it, and the next test waits while it reads the definition of each table that it uses.
    """
    if connection.connection is not None and not is_reusable():
        connection.close()  # an open transaction would end, and the emptying be undone with it
    empty_database()
    if is_reusable():
        with connection.cursor() as cursor:
            cursor.execute(RESET_SESSION)
        connection.init_connection_state()
    else:
        connection.close()


def is_reusable() -> bool:
    known = connection.connection.info
    is_idle = known.transaction_status is TransactionStatus.IDLE and connection.get_autocommit()
    return is_idle and not connection.run_on_commit and known.get_parameters() == first_parameters


FORGET = "for _, name in ipairs(redis.call('KEYS', 'limit:*')) do redis.call('DEL', name) end"


@cache
def _counters() -> "redis.Redis":
    return redis.Redis.from_url(settings.REDIS_URL)


def forget_counters() -> None:
    """Remove what the rate limits have counted."""
    _counters().eval(FORGET, 0)
