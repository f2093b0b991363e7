"""Transactions of the project's own connection, in threads of the sender."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import Error, transaction
from django.db import connection as project


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
