"""A part of a file that was asked for, as RFC 9110 writes it; several parts at once are answered with the whole."""

import re
from typing import NamedTuple

ONE_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})", re.ASCII)


class Range(NamedTuple):
    """`length` is 0 where nothing of the file is in the range."""

    start: int
    length: int


def range_of(header: str, size: int) -> Range | None:
    """Read a Range header; None where there is none that is understood, so that the whole file is meant."""
    found = ONE_RANGE.fullmatch(header.strip())
    if not found or not (found[1] or found[2]):
        return None
    if not found[1]:
        length = min(int(found[2]), size)
        return Range(size - length, length)
    start, end = int(found[1]), min(int(found[2] or size - 1), size - 1)
    if found[2] and int(found[2]) < start:
        return None
    return Range(start, max(0, end - start + 1))
