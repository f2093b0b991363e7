"""One clock for everything, which a test moves on: PostgreSQL's, that of the product's processes, and the test's own.

PostgreSQL takes the time from the machine, whose clock nobody moves here. But its functions of time are found by the
search path as all others are: sessions of this database find ours first, which add what the clock is ahead.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import time_machine
from django.db import connection

from tests.clocks.hosts import Host, running_host
from tests.clocks.travelling import travel_ahead
from tests.processes.preloaded import Preloaded

SCHEMA: Final = "moved_clock"
FUNCTIONS: Final = {
    "clock_timestamp": "VOLATILE",
    "statement_timestamp": "STABLE",
    "transaction_timestamp": "STABLE",
    "now": "STABLE",
}
FUNCTION: Final = """
CREATE FUNCTION {schema}.{name}() RETURNS timestamptz LANGUAGE sql {volatility} PARALLEL SAFE
RETURN (SELECT pg_catalog.{name}() + ahead FROM {schema}.clock)
"""

MOVE: Final = f"UPDATE {SCHEMA}.clock SET ahead = make_interval(secs => %s)"  # noqa: S608  # a name of our own


class MovedClock:
    """Use it as a context: within it sessions and processes that begin have this clock."""

    def __init__(self, folder: Path, preloaded: Preloaded) -> None:
        self._folder = folder
        self._preloaded = preloaded
        self._ahead = timedelta()
        self._own: time_machine.travel | None = None
        self._hosts: list[Host] = []
        self._running = ExitStack()

    def __enter__(self) -> "MovedClock":
        self._execute(f"CREATE SCHEMA {SCHEMA}", f"CREATE TABLE {SCHEMA}.clock AS SELECT interval '0' AS ahead")
        self._execute(
            *(
                FUNCTION.format(schema=SCHEMA, name=name, volatility=volatility)
                for name, volatility in FUNCTIONS.items()
            ),
            f"{self._database} SET search_path = {SCHEMA}, pg_catalog, public",
        )
        connection.close()
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()
        if self._own is not None:
            self._own.stop()
        self._execute(f"{self._database} RESET search_path", f"DROP SCHEMA {SCHEMA} CASCADE")
        connection.close()

    def start(self, arguments: Sequence[str], settings: Mapping[str, object]) -> None:
        """Start a worker of the plan, with these settings, on a host that has this clock."""
        file = self._folder / f"clock-{len(self._hosts)}"
        host = running_host(self._preloaded, file, arguments, settings, ahead=self._ahead.total_seconds())
        self._hosts.append(self._running.enter_context(host))

    def move_to(self, moment: datetime) -> None:
        """Let it be this moment everywhere: it is what falls due, the database's clock, that follows last."""
        self._ahead += moment - datetime.now(UTC)
        if self._own is not None:
            self._own.stop()
        self._own = travel_ahead(self._ahead)
        for host in self._hosts:
            host.set_clock(self._ahead.total_seconds())
        with connection.cursor() as cursor:
            cursor.execute(MOVE, [self._ahead.total_seconds()])

    @property
    def _database(self) -> str:
        return f'ALTER DATABASE "{connection.settings_dict["NAME"]}"'

    @staticmethod
    def _execute(*statements: str) -> None:
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
