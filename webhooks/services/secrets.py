"""Secrets that signed beside their successors, and do so no longer."""

from django.db import connection

MOST_ERASED = 500
# The edit is noted, so that dispatchers read the row anew.
ERASE = """
UPDATE webhooks_endpoint
SET previous_secret = NULL, previous_secret_until = NULL, edited_in = pg_current_xact_id()::text::bigint
WHERE id = ANY (ARRAY (
    SELECT id FROM webhooks_endpoint WHERE previous_secret_until <= statement_timestamp()
    ORDER BY previous_secret_until LIMIT %s FOR UPDATE SKIP LOCKED
))
"""


def erase_previous_secrets() -> int:
    """Forget secrets that do not sign any more, by the database's clock; says of how many endpoints."""
    with connection.cursor() as cursor:
        cursor.execute(ERASE, [MOST_ERASED])
        return int(cursor.rowcount)
