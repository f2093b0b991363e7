"""Connections of a worker process: one for each thread, kept for the whole run."""

from typing import Any

import psycopg
from django.db import connection as project

from config.postgresql.connection import BoundedConnection

Connection = psycopg.Connection[tuple[Any, ...]]

# If PostgreSQL crashes, a worker's last half second of writes may be lost. That does no harm: the rows that caused the
# work are still there, and its leases and records are made once more. So commits do not wait for the disk.
SESSION = {
    "synchronous_commit": "off",
    "jit": "off",
    "plan_cache_mode": "force_generic_plan",
    "statement_timeout": "20s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "10s",
    # The queue grows and empties faster than its statistics follow. Its indexes are right whatever the statistics say.
    "enable_seqscan": "off",
    "enable_mergejoin": "off",
    "enable_bitmapscan": "off",
}

# A statement is prepared if it asks for it, or after this many executions. None would forbid it to all statements.
UNASKED = 1_000_000


def open_connection(name: str, **address: Any) -> Connection:
    """Connect to the project's database with autocommit. PostgreSQL shows `name` for the connection.

    `address` replaces parts of the project's own address.
    """
    settings = project.get_connection_params()
    for key in ("cursor_factory", "context", "prepare_threshold", "options"):
        settings.pop(key, None)
    options = " ".join(f"-c {key}={value}" for key, value in SESSION.items())
    keepalive = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 20_000}
    where = {**settings, **address, **keepalive}
    return BoundedConnection.connect(
        **where, options=options, application_name=name, autocommit=True, prepare_threshold=UNASKED
    )
