"""A broadcast's waves: the number of recipients due at each moment."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from django.db import connection

ADD: Final = """
INSERT INTO broadcasts_wave AS wave (broadcast_id, due_at, timezones, total) VALUES (%s, %s, %s::varchar[], %s)
ON CONFLICT (broadcast_id, due_at) DO UPDATE SET total = wave.total + excluded.total,
    timezones = ARRAY (SELECT DISTINCT name FROM unnest(wave.timezones || excluded.timezones) AS name ORDER BY name)
"""


def add_waves(broadcast: int, ready: Mapping[datetime, Counter[str | None]]) -> None:
    """Add recipients to a broadcast's waves, inside the caller's transaction."""
    rows = [
        (broadcast, due_at, sorted(zone for zone in zones if zone is not None), zones.total())
        for due_at, zones in sorted(ready.items())
    ]
    with connection.cursor() as cursor:
        cursor.executemany(ADD, rows)
