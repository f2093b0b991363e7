"""A psycopg connection that gives up on a server that stays silent."""

import select
import time
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus

from config.postgresql.waits import waits

Result = TypeVar("Result")
WAKE_UP_SECONDS = 0.1


class DatabaseSilent(psycopg.OperationalError):
    """The server accepted a connection or a statement, and then said nothing more."""


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that waits for an answer for as long as `waits` says, then closes itself.

    Keepalives and `tcp_user_timeout` detect a host that is gone. This class detects a host that acknowledges and never
    answers.
    """

    @classmethod
    def connect_in_time(cls, **parameters: Any) -> "BoundedConnection":
        """Connect, unless this thread has already waited in vain for too long."""
        if not waits.may_connect:
            raise DatabaseSilent("PostgreSQL is silent; no further connection is tried.")
        started = time.monotonic()
        try:
            return cls.connect(**parameters)
        except psycopg.errors.ConnectionTimeout:
            waits.unanswered(time.monotonic() - started)
            raise

    def wait(self, gen: PQGen[Result], interval: float = WAKE_UP_SECONDS, timeout: float | None = None) -> Result:
        allowed = waits.left
        if timeout is not None or allowed is None:
            return super().wait(gen, interval=interval, timeout=timeout)
        started = time.monotonic()
        try:
            result = super().wait(gen, interval=interval, timeout=allowed)
        except psycopg.OperationalError as fault:
            # psycopg has no public exception for the end of a wait. Faults that the server reports have a code.
            if fault.sqlstate is not None or time.monotonic() - started < allowed:
                raise
            waits.unanswered(allowed)
            self.pgconn.finish()
            raise DatabaseSilent(f"PostgreSQL has not answered for {allowed:.1f} s.") from None
        waits.answered()
        return result

    @property
    def is_quiet(self) -> bool:
        """Whether nothing has come over the idle connection. If something has, the server has usually closed it.

        A connection with a failed transaction takes no statement and is not quiet.
        """
        if self.closed or self.info.transaction_status is TransactionStatus.INERROR:
            return False
        poll = select.poll()
        poll.register(self.pgconn.socket, select.POLLIN | select.POLLPRI)
        return not poll.poll(0)
