"""The Range header of RFC 9110. A request for several ranges is answered with the whole file."""

import re
from typing import NamedTuple

ONE_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})", re.ASCII)


class Range(NamedTuple):
    """A range of bytes. `length` is 0 if the range lies outside of the file."""

    start: int
    length: int


def range_of(header: str, size: int) -> Range | None:
    """Read a Range header. None means the whole file, for a header that is empty or not understood."""
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
