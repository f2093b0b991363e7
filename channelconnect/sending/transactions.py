"""What the sender's threads do their work in: sessions of their own, and transactions of the project's connection."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import Error, transaction
from django.db import connection as project

from config.leases.connection import Connection

# A claim that a crash of PostgreSQL forgot would be sent twice. And few rows are asked for of tables with millions: by
# their keys, whatever the statistics say, as all contacts would be read into a hash or a list first.
SESSION = "SET synchronous_commit = on; SET enable_hashjoin = off; SET enable_material = off"


def prepare_session(connection: Connection) -> None:
    """Have a worker's own connection commit for good, and find rows by their keys."""
    connection.execute(SESSION)


@contextmanager
def project_transaction() -> Iterator[Any]:
    """A transaction over this thread's connection of the project, whose faults are the driver's own."""
    try:
        with transaction.atomic(), project.cursor() as cursor:
            yield cursor
    except Error as error:
        project.close()
        if isinstance(error.__cause__, psycopg.Error):
            raise error.__cause__ from None
        raise
