"""Where a page of all recipients begins, by the chunks in which they were prepared.

Chunks are passed over by their numbers, so at most one of them is walked, whatever the size of the broadcast. Each
change of who stands in a broadcast changes them in the same transaction, or leaves them with too small a sum: then they
are not used.
"""

from collections.abc import Collection
from typing import Any, Final

from django.db import connection

from broadcasts.models import RecipientChunk

# The newest ones come first. Of chunks of none the last one that begins there is taken.
FIND: Final = """
SELECT up_to, newer FROM (
    SELECT up_to, sum(number) OVER newest - number AS newer, sum(number) OVER () AS total
    FROM broadcasts_recipientchunk WHERE broadcast_id = %(broadcast)s WINDOW newest AS (ORDER BY up_to DESC)
) AS chunk
WHERE total = %(total)s AND newer <= %(offset)s ORDER BY up_to LIMIT 1
"""
# A contact belongs to the first chunk that reaches as far as it. One behind all of them is a chunk of its own, unless
# preparation still comes to it.
ADD: Final = """
INSERT INTO broadcasts_recipientchunk AS chunk (broadcast_id, up_to, number)
SELECT broadcast.id, coalesce(reached.up_to, %(contact)s), %(number)s
FROM broadcasts_broadcast broadcast
LEFT JOIN LATERAL (
    SELECT up_to FROM broadcasts_recipientchunk
    WHERE broadcast_id = broadcast.id AND up_to >= %(contact)s ORDER BY up_to LIMIT 1
) AS reached ON true
WHERE broadcast.id = ANY (%(broadcasts)s::bigint[])
    AND (reached.up_to IS NOT NULL OR (broadcast.is_prepared AND %(number)s > 0))
ON CONFLICT (broadcast_id, up_to) DO UPDATE SET number = chunk.number + excluded.number
"""


def add_chunk(broadcast: int, *, up_to: int, number: int) -> None:
    """Write how many recipients a chunk came to, in the transaction that writes them."""
    if number:
        RecipientChunk.objects.create(broadcast_id=broadcast, up_to=up_to, number=number)


def add_to_chunks(broadcasts: Collection[int], *, contact: int, number: int) -> None:
    """Say that a contact has become a recipient of broadcasts that came to it already (1), or is none any more (-1)."""
    if broadcasts:
        _execute(ADD, {"broadcasts": list(broadcasts), "contact": contact, "number": number})


def find_chunk_of_page(broadcast: int, *, offset: int, total: int) -> tuple[int, int] | None:
    """Give the newest contact of a chunk, and how many recipients are newer than all of it; None where nobody knows.

    The recipient at the offset, counted from the newest one, stands in it.
    """
    row = _execute(FIND, {"broadcast": broadcast, "offset": offset, "total": total}, is_read=True)
    return None if row is None else (int(row[0]), int(row[1]))


def _execute(statement: str, values: dict[str, Any], *, is_read: bool = False) -> tuple[Any, ...] | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row: tuple[Any, ...] | None = cursor.fetchone() if is_read else None
        return row
