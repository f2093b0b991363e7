"""Listens to PostgreSQL for changes of domains, by whatever process."""

from collections.abc import Callable
from typing import Any, Final

from django.conf import settings
from psycopg.conninfo import conninfo_to_dict

from config.leases.connections import Connection, DatabaseThread, open_connection

# The channel that the table's trigger notifies (migration 0002).
CHANNEL: Final = "agency_domains"
# How often everything is read again without a notification, which also shows that a connection is dead.
REREAD_SECONDS: Final = 10.0


class DomainListener(DatabaseThread):
    """A thread with its own connection to PostgreSQL itself, as a pooler would lose notifications.

    `reread` is called when the connection is made, on every change, and after `REREAD_SECONDS`.
    """

    name = "domain listener"

    def __init__(self, reread: Callable[[Any], None]) -> None:
        super().__init__(run=0)
        self._reread = reread

    def connect(self) -> Connection:
        direct = conninfo_to_dict(settings.DATABASE_DIRECT_URL) if settings.IS_POOLED else {}
        return open_connection(self.name, **direct)

    def on_connect(self, connection: Connection) -> None:
        connection.execute(f"LISTEN {CHANNEL}")

    def work(self) -> None:
        connection = self.connection
        with connection.cursor() as cursor:
            self._reread(cursor)
        for _ in connection.notifies(timeout=REREAD_SECONDS, stop_after=1):
            pass
