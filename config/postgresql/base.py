"""Django's backend over connections that never wait for ever, and that are known to live before they are used."""

from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base
from psycopg import IsolationLevel

from config.postgresql.connection import BoundedConnection


class DatabaseWrapper(base.DatabaseWrapper):
    """PostgreSQL as Django knows it; `CONN_HEALTH_CHECKS` costs no statement here."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> BoundedConnection:
        # The project sets no isolation level and no pool, which is all that Django's own method knows beside this.
        self.isolation_level = IsolationLevel.READ_COMMITTED
        return BoundedConnection.connect_in_time(**{"application_name": settings.PROCESS_NAME, **conn_params})

    def is_usable(self) -> bool:
        """Say whether the connection lives: nothing came over it, or a statement shows that what came was harmless."""
        connection = self.connection
        if isinstance(connection, BoundedConnection) and connection.is_quiet:
            return True
        usable: bool = super().is_usable()
        return usable
