"""Applies a requested order: the named rows first, then the others in their old order."""

from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

from packs.models import Pack, PackEntry
from packs.services.errors import NotInOrder

Row = TypeVar("Row", Pack, PackEntry)


def reordered(rows: Sequence[Row], order: Sequence[UUID], *, unknown: str) -> list[Row]:
    """Return the rows in their new order. Raises `NotInOrder` with the message `unknown` for a uuid of no row."""
    by_uuid = {row.uuid: row for row in rows}
    if not by_uuid.keys() >= set(order):
        raise NotInOrder(unknown)
    named: list[Row] = [by_uuid[uuid] for uuid in order]
    rest: list[Row] = [row for row in rows if row.uuid not in set(order)]
    return named + rest


def renumbered(rows: Sequence[Row]) -> list[Row]:
    """Number the rows from one on. Return those that moved, sorted by primary key."""
    moved = [row for position, row in enumerate(rows, 1) if row.position != position]
    for position, row in enumerate(rows, 1):
        row.position = position
    return sorted(moved, key=lambda row: row.pk)
