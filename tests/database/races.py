"""A race in the database that is lost once: the statement fails as one does that PostgreSQL ends for another's sake."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import connection

LOSE = """
CREATE SEQUENCE races;
CREATE FUNCTION lose_race() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('races') = 1 THEN RAISE EXCEPTION 'somebody else was first' USING ERRCODE = '{state}'; END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER race AFTER UPDATE ON {table} FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION lose_race();
"""


@contextmanager
def lost_once(table: str, when: str, state: str) -> Iterator[Callable[[], bool]]:
    """Have the first update of such a row fail within the block; gives whether it has."""

    def has_been_lost() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT is_called FROM races")
            [is_called] = cursor.fetchone()
        return bool(is_called)

    with connection.cursor() as cursor:
        cursor.execute(LOSE.format(table=table, when=when, state=state))
    try:
        yield has_been_lost
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION lose_race CASCADE; DROP SEQUENCE races")
