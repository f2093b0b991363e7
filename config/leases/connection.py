"""Connections of a worker process: one to a thread, kept for the whole run."""

from typing import Any

import psycopg
from django.db import connection as project

from config.postgresql.connection import BoundedConnection

Connection = psycopg.Connection[tuple[Any, ...]]

# Nothing that a worker writes is lost for the business when a crash of PostgreSQL takes its last half second: what
# caused the work is there, and what was leased or recorded then is done once more. So it waits for no disk.
SESSION = {
    "synchronous_commit": "off",
    "jit": "off",
    "plan_cache_mode": "force_generic_plan",
    "statement_timeout": "20s",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "10s",
    # The queue grows and empties faster than its statistics follow; its indexes are right whatever those say.
    "enable_seqscan": "off",
    "enable_mergejoin": "off",
    "enable_bitmapscan": "off",
}

# Statements are prepared where they ask for it, others after so many times; None would forbid it to all.
UNASKED = 1_000_000


def open_connection(name: str, **address: Any) -> Connection:
    """Connect to the project's database, each statement its own transaction; `name` is what PostgreSQL shows.

    `address` replaces parts of the project's own.
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
