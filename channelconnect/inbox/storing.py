"""Stores a callback as it came, with one statement, and wakes the readers."""

import hashlib

from django.db import connection

from config.celery import wake_up_now

WAKE_UP = "inbox"
STORE = """
INSERT INTO channelconnect_providernotice (received_at, digest, body, tries, fault)
VALUES (statement_timestamp(), %s, %s, 0, '') ON CONFLICT (digest) DO NOTHING RETURNING id
"""


def store_notice(*, body: bytes) -> bool:
    """Store a signed callback with one statement that commits at once. False if the same body came before."""
    with connection.cursor() as cursor:
        cursor.execute(STORE, [hashlib.sha256(body).digest(), body])
        is_new = cursor.fetchone() is not None
    if is_new:
        wake_up_now(WAKE_UP)
    return is_new
