"""Finds the start of a page of all recipients by the chunks in which they were prepared.

The search adds up the chunks' numbers and walks at most one chunk, whatever the broadcast's size. Every change of a
broadcast's recipients either changes its chunks in the same transaction, or leaves their sum too small. Chunks whose
sum is too small are not used.
"""

from collections.abc import Collection
from typing import Any, Final

from django.db import connection

from broadcasts.models import RecipientChunk

# Chunks are added up from the newest. Empty chunks are passed over.
FIND: Final = """
SELECT up_to, newer FROM (
    SELECT up_to, sum(number) OVER newest - number AS newer, sum(number) OVER () AS total
    FROM broadcasts_recipientchunk WHERE broadcast_id = %(broadcast)s WINDOW newest AS (ORDER BY up_to DESC)
) AS chunk
WHERE total = %(total)s AND newer <= %(offset)s ORDER BY up_to LIMIT 1
"""
# A contact belongs to the first chunk that reaches its id. A contact after all of them becomes a chunk, unless
# preparation still reaches it.
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
    """Write a chunk's number of recipients, in the transaction that writes them."""
    if number:
        RecipientChunk.objects.create(broadcast_id=broadcast, up_to=up_to, number=number)


def add_to_chunks(broadcasts: Collection[int], *, contact: int, number: int) -> None:
    """Record that a contact became a recipient of broadcasts that had passed it (1), or no longer is one (-1)."""
    if broadcasts:
        _execute(ADD, {"broadcasts": list(broadcasts), "contact": contact, "number": number})


def find_chunk_of_page(broadcast: int, *, offset: int, total: int) -> tuple[int, int] | None:
    """Find the chunk with the recipient at `offset`, counted from the newest; None if the chunks cannot tell.

    Returns the chunk's highest contact id, and the number of recipients newer than the chunk.
    """
    row = _execute(FIND, {"broadcast": broadcast, "offset": offset, "total": total}, is_read=True)
    return None if row is None else (int(row[0]), int(row[1]))


def _execute(statement: str, values: dict[str, Any], *, is_read: bool = False) -> tuple[Any, ...] | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row: tuple[Any, ...] | None = cursor.fetchone() if is_read else None
        return row
