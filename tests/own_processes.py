"""Processes of the product that a test starts, on the test's own database and broker."""

import os

from django.conf import settings
from django.db import connection
from psycopg.conninfo import make_conninfo


def variables() -> dict[str, str]:
    """Give the environment of such a process."""
    parts = connection.get_connection_params()
    address = {name: parts[name] for name in ("dbname", "user", "password", "host", "port") if name in parts}
    return {**os.environ, "DATABASE_URL": make_conninfo("", **address), "REDIS_URL": settings.REDIS_URL}
