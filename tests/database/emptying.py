"""How database and counters are emptied after a test that commits."""

from functools import cache

import redis
from django.conf import settings
from django.db import OperationalError, connection
from psycopg.errors import DeadlockDetected

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


FORGET = "for _, name in ipairs(redis.call('KEYS', 'limit:*')) do redis.call('DEL', name) end"


@cache
def _counters() -> "redis.Redis":
    return redis.Redis.from_url(settings.REDIS_URL)


def forget_counters() -> None:
    """Remove what the rate limits have counted."""
    _counters().eval(FORGET, 0)
