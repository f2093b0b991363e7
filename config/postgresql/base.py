"""Django's backend over connections that never wait for ever, and are known to live before they are used."""

import select
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import psycopg
from django.conf import settings
from django.db.backends.postgresql import base
from psycopg import IsolationLevel
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus

# A statement may take its `statement_timeout`. If the server says nothing this long after it, it is silent.
GRACE_SECONDS: Final = 0.5
LEAST_SECONDS: Final = 0.25
CONNECT_SECONDS: Final = 2.0
SILENCE_IS_REMEMBERED_SECONDS: Final = 10.0


class AnswerTimeout(threading.local):
    """The seconds that this thread waits for an answer. None, the default, means for ever.

    A request begins with the seconds that its wait for a thread has left, so that it ends in time if the database is
    silent. Each answer restores the whole time, and each silence takes off the time it lasted.
    """

    whole: float | None = None
    left: float | None = None

    def answered(self) -> None:
        self.left = self.whole

    def unanswered(self, seconds: float) -> None:
        """Record a silence, so that this process's next connection does not wait in vain once more."""
        global _last_silence
        _last_silence = time.monotonic()
        if self.left is not None:
            self.left = max(LEAST_SECONDS, self.left - seconds)

    @property
    def may_connect(self) -> bool:
        """Whether a new connection may be tried: enough time is left, or the last silence was long ago."""
        if self.left is None or self.left >= CONNECT_SECONDS:
            return True
        return time.monotonic() > _last_silence + SILENCE_IS_REMEMBERED_SECONDS


_last_silence = -SILENCE_IS_REMEMBERED_SECONDS
answer_timeout = AnswerTimeout()


def set_answer_timeout(seconds: float, *, waited: float = 0.0) -> None:
    """Set how long this thread waits from now on. `waited` shortens the wait for the first answer."""
    answer_timeout.whole = seconds
    answer_timeout.left = max(LEAST_SECONDS, seconds - waited)


@contextmanager
def limited_answer_timeout(seconds: float) -> Iterator[None]:
    """Wait at most this long for each answer within the block."""
    before = answer_timeout.whole, answer_timeout.left
    answer_timeout.whole = answer_timeout.left = seconds
    try:
        yield
    finally:
        answer_timeout.whole, answer_timeout.left = before


Result = TypeVar("Result")
WAKE_UP_SECONDS = 0.1


class DatabaseTimeout(psycopg.OperationalError):
    """The server accepted a connection or a statement, and then said nothing more."""


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that waits for an answer for as long as `answer_timeout` says, then closes itself.

    Keepalives and `tcp_user_timeout` detect a host that is gone. This class detects a host that acknowledges and never
    answers.
    """

    @classmethod
    def connect_in_time(cls, **parameters: Any) -> "BoundedConnection":
        """Connect, unless this thread has already waited in vain for too long."""
        if not answer_timeout.may_connect:
            raise DatabaseTimeout("PostgreSQL is silent; no further connection is tried.")
        started = time.monotonic()
        try:
            return cls.connect(**parameters)
        except psycopg.errors.ConnectionTimeout:
            answer_timeout.unanswered(time.monotonic() - started)
            raise

    def wait(self, gen: PQGen[Result], interval: float = WAKE_UP_SECONDS, timeout: float | None = None) -> Result:
        allowed = answer_timeout.left
        if timeout is not None or allowed is None:
            return super().wait(gen, interval=interval, timeout=timeout)
        started = time.monotonic()
        try:
            result = super().wait(gen, interval=interval, timeout=allowed)
        except psycopg.OperationalError as fault:
            # psycopg has no public exception for the end of a wait. Faults that the server reports have a code.
            if fault.sqlstate is not None or time.monotonic() - started < allowed:
                raise
            answer_timeout.unanswered(allowed)
            self.pgconn.finish()
            raise DatabaseTimeout(f"PostgreSQL has not answered for {allowed:.1f} s.") from None
        answer_timeout.answered()
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


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's own wrapper for PostgreSQL, in which `CONN_HEALTH_CHECKS` usually costs no statement."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> BoundedConnection:
        # Django's own method also handles an isolation level and a pool. The project sets neither.
        self.isolation_level = IsolationLevel.READ_COMMITTED
        return BoundedConnection.connect_in_time(**{"application_name": settings.PROCESS_NAME, **conn_params})

    def is_usable(self) -> bool:
        """Return whether the connection lives.

        It lives if nothing came over it. Otherwise a statement shows whether it still works.
        """
        connection = self.connection
        if isinstance(connection, BoundedConnection) and connection.is_quiet:
            return True
        usable: bool = super().is_usable()
        return usable
