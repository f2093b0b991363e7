"""Django's backend over connections that never wait for ever, and are known to live before they are used."""

from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base
from psycopg import IsolationLevel

from config.postgresql.connection import BoundedConnection


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
