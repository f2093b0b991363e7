"""How a sent order is applied: the named ones first, the others after them as they stood."""

from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

from packs.models import Pack, PackEntry
from packs.services.errors import NotInOrder

Row = TypeVar("Row", Pack, PackEntry)


def reordered(rows: Sequence[Row], order: Sequence[UUID], *, unknown: str) -> list[Row]:
    """Give the rows in their new order. Raises `NotInOrder`, saying `unknown`, for a uuid among none of them."""
    by_uuid = {row.uuid: row for row in rows}
    if not by_uuid.keys() >= set(order):
        raise NotInOrder(unknown)
    named: list[Row] = [by_uuid[uuid] for uuid in order]
    rest: list[Row] = [row for row in rows if row.uuid not in set(order)]
    return named + rest


def renumbered(rows: Sequence[Row]) -> list[Row]:
    """Number the rows from one on and give those that moved, sorted by key."""
    moved = [row for position, row in enumerate(rows, 1) if row.position != position]
    for position, row in enumerate(rows, 1):
        row.position = position
    return sorted(moved, key=lambda row: row.pk)
