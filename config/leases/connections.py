"""A worker process's connections, one for each thread, and threads that survive the database's absence."""

import logging
import threading
from typing import Any

import psycopg
from django.db import connection as project

from config.postgresql.base import BoundedConnection, set_answer_timeout
from config.postgresql.concurrency import retry_on_conflict

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


def open_connection(name: str, **address: object) -> Connection:
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


logger = logging.getLogger(__name__)

REST_AFTER_FAULT_SECONDS = 0.5
# A server that is silent for longer than a statement may take loses its connection.
LONGEST_ANSWER_SECONDS = 21.0
CLOSING_SECONDS = 10.0


def _is_away(error: psycopg.Error) -> bool:
    """Return whether the connection broke or could not be opened. Otherwise the database has answered with an error."""
    return error.sqlstate is None or error.sqlstate.startswith(("08", "57P"))


class DatabaseThread:
    """Works over its own connection until it is asked to stop. At the end `finish` does what is left.

    `run` is the number of its worker run, `name` the name that PostgreSQL shows for its connection. `had_fault` says
    that a connection broke. It is then unknown whether the last statement was executed.
    """

    name = "database thread"

    def __init__(self, run: int) -> None:
        self.run = run
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._work, name=self.name.replace(" ", "-"), daemon=True)
        self.had_fault = self._has_ended = self._is_away = False
        self._connection: Connection | None = None

    @property
    def connection(self) -> Connection:
        """The open connection. If there is none, it is opened and prepared by `on_connect`."""
        if self._connection is None:
            self._connection = self.connect()
            self.on_connect(self._connection)
        return self._connection

    @property
    def has_crashed(self) -> bool:
        """Whether an exception ended its work."""
        return not self.thread.is_alive() and not self._has_ended

    def connect(self) -> Connection:
        return open_connection(self.name)

    def on_connect(self, connection: Connection) -> None:
        """Prepare a new connection."""

    def work(self) -> None:
        """Do a round and return soon, so that a stop is seen. Raises `psycopg.Error` if the database is away.

        A round may be repeated at any time: what it has committed stays, and the rest is done then.
        """
        raise NotImplementedError

    def finish(self) -> None:
        """Do what is left to be done at the end."""

    def close(self) -> None:
        """Let the thread do what is left, and wait for it."""
        self.stopping.set()
        self.wake()
        self.thread.join(CLOSING_SECONDS)

    def wake(self) -> None:
        """End a wait for work."""

    def _work(self) -> None:
        set_answer_timeout(LONGEST_ANSWER_SECONDS)
        try:
            while not self.stopping.is_set():
                if not self.work_once():
                    self.stopping.wait(REST_AFTER_FAULT_SECONDS)
            self.finish()
            self._has_ended = True
        finally:
            self._disconnect()

    def work_once(self) -> bool:
        """Do a round unless the database is away; return whether it went well."""
        try:
            retry_on_conflict(self.work)
        except psycopg.Error as error:
            if not self._is_away:
                fault = {"database_thread": self.name, "fault": type(error).__name__}
                logger.warning("the database is away" if _is_away(error) else "a statement failed", extra=fault)
            self._is_away = True
            self.had_fault |= self._connection is not None
            self._disconnect()
            return False
        self._is_away = False
        return True

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
