"""Database sessions of the sender's threads, and transactions over the project's connection."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import Error, transaction
from django.db import connection as project

from config.leases.connections import Connection

# With an asynchronous commit, a crash of PostgreSQL could lose a claim, and the message would be sent twice. The other
# settings make the planner find a few rows of tables with millions by their keys, whatever the statistics say.
# Otherwise it would read all contacts into a hash or a list first.
SESSION = "SET synchronous_commit = on; SET enable_hashjoin = off; SET enable_material = off"


def prepare_session(connection: Connection) -> None:
    """Make a worker's own connection commit durably, and find rows by their keys."""
    connection.execute(SESSION)


@contextmanager
def project_transaction() -> Iterator[Any]:
    """A transaction over this thread's connection of the project. It raises the driver's own errors."""
    try:
        with transaction.atomic(), project.cursor() as cursor:
            yield cursor
    except Error as error:
        project.close()
        if isinstance(error.__cause__, psycopg.Error):
            raise error.__cause__ from None
        raise
