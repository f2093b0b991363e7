"""Allowances that count as full: after a restore nobody knows whom the numbers have written to since the backup."""

from typing import Final

from django.db import connection

from channelconnect.services.allowance_keys import KEY

BATCH: Final = 1_000
# Keys that are not there yet are made; locked in their order, as those who take from them do.
FILL: Final = f"""
WITH page AS MATERIALIZED (
    SELECT id FROM subaccounts_channel WHERE id > %(after)s AND platform = 'whatsapp' ORDER BY id LIMIT %(batch)s
), filled AS (
    INSERT INTO channelconnect_allowance AS kept (key, used, reserved, full_until)
    SELECT DISTINCT {KEY} AS key, 0, 0, statement_timestamp() + make_interval(hours => %(hours)s)
    FROM page JOIN subaccounts_channel channel USING (id)
    LEFT JOIN channelconnect_channelcredential credential ON credential.channel_id = channel.id
    ORDER BY key
    ON CONFLICT (key) DO UPDATE SET full_until = excluded.full_until
    RETURNING kept.key
)
SELECT (SELECT max(id) FROM page), (SELECT count(*) FROM filled)
"""  # noqa: S608  # texts of our own


def fill_allowances(*, hours: int) -> int:
    """Let nobody be written to for so many hours who needs room; says of how many numbers and portfolios."""
    number, after = 0, 0
    with connection.cursor() as cursor:
        while True:
            cursor.execute(FILL, {"after": after, "batch": BATCH, "hours": hours})
            last, filled = cursor.fetchone()
            if last is None:
                return number
            number, after = number + filled, last
