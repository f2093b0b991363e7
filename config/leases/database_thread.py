"""A thread of a worker process that works with the database, and survives the database's absence."""

import logging
import threading

import psycopg

from config.leases.connection import Connection, open_connection
from config.postgresql.races import tried_again
from config.postgresql.waits import set_longest_wait

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
        set_longest_wait(LONGEST_ANSWER_SECONDS)
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
            tried_again(self.work)
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
