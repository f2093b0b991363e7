"""Reads QR codes (ISO/IEC 18004) from SVG pictures, as the camera of a phone would; only perfect ones."""

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

from segno import consts

Matrix = list[list[bool]]
# The two bits of the format that name the level of error correction, and where segno's table keeps it.
LEVELS = {
    0b01: consts.ERROR_LEVEL_L,
    0b00: consts.ERROR_LEVEL_M,
    0b11: consts.ERROR_LEVEL_Q,
    0b10: consts.ERROR_LEVEL_H,
}
# How many blocks of what size a version has at each level.
BLOCKS: Any = consts.ECC
FORMAT_MASK = 0b101010000010010
MASKS: tuple[Callable[[int, int], int], ...] = (
    lambda row, column: (row + column) % 2,
    lambda row, _: row % 2,
    lambda _, column: column % 3,
    lambda row, column: (row + column) % 3,
    lambda row, column: (row // 2 + column // 3) % 2,
    lambda row, column: row * column % 2 + row * column % 3,
    lambda row, column: (row * column % 2 + row * column % 3) % 2,
    lambda row, column: ((row + column) % 2 + row * column % 3) % 2,
)


def read_picture(address: str) -> str:
    """Give the text in a picture (`data:image/svg+xml…`) whose dark modules are strokes."""
    return read_matrix(modules_of(unquote(address)))


def modules_of(svg: str) -> Matrix:
    """Give which modules are dark, without the quiet zone around them."""
    path = re.search(r"stroke='#000' d='([^']+)'", svg)
    assert path, svg[:200]
    dark, row, column = set(), 0.0, 0
    for step, x, y in re.findall(r"([Mmh])(-?\d+)(?: (-?[\d.]+))?", path[1]):
        if step == "h":
            dark |= {(int(row), at) for at in range(column, column + int(x))}
        row = float(y) if step == "M" else row + float(y or 0)
        column = int(x) if step == "M" else column + int(x)
    top = min(row for row, _ in dark)
    size = max(row for row, _ in dark) - top + 1
    return [[(row + top, column + top) in dark for column in range(size)] for row in range(size)]


def read_matrix(matrix: Matrix) -> str:
    version = (len(matrix) - 17) // 4
    bits = "".join(str(int(matrix[8][column])) for column in (0, 1, 2, 3, 4, 5, 7))
    data_format = int(f"{bits:0<15}", 2) ^ FORMAT_MASK
    level, mask = LEVELS[data_format >> 13], MASKS[data_format >> 10 & 7]
    dark = [matrix[row][column] ^ (mask(row, column) == 0) for row, column in _places(len(matrix), version)]
    words = [int("".join(str(int(bit)) for bit in dark[at : at + 8]), 2) for at in range(0, len(dark) - 7, 8)]
    sizes = [info.num_data for info in BLOCKS[version][level] for _ in range(info.num_blocks)]
    blocks: list[list[int]] = [[] for _ in sizes]
    stream = iter(words)
    for number in range(max(sizes)):
        for block, size in zip(blocks, sizes, strict=True):
            if number < size:
                block.append(next(stream))
    content = "".join(f"{word:08b}" for block in blocks for word in block)
    assert content[:4] == "0100", "bytes alone are read"
    long = 8 if version < 10 else 16
    length = int(content[4 : 4 + long], 2)
    start = 4 + long
    return bytes(int(content[at : at + 8], 2) for at in range(start, start + 8 * length, 8)).decode()


def _places(size: int, version: int) -> Iterator[tuple[int, int]]:
    """Give the places of data in their order: two columns at a time from the right, up and down in turn."""
    upwards = True
    for right in [*range(size - 1, 6, -2), *range(5, 0, -2)]:
        for row in range(size - 1, -1, -1) if upwards else range(size):
            yield from ((row, one) for one in (right, right - 1) if not _is_fixed(row, one, size, version))
        upwards = not upwards


def _is_fixed(row: int, column: int, size: int, version: int) -> bool:
    """Say whether a place belongs to a pattern, the format or the version."""
    corner = (row < 9 and (column < 9 or column >= size - 8)) or (row >= size - 8 and column < 9)
    if corner or row == 6 or column == 6:
        return True
    near, far = min(row, column), max(row, column)
    if version >= 7 and near < 6 and far >= size - 11:
        return True
    centres = _centres(version, size)
    return any(
        abs(row - one) <= 2 and abs(column - other) <= 2
        for one in centres
        for other in centres
        if (one, other) not in {(6, 6), (6, size - 7), (size - 7, 6)}
    )


def _centres(version: int, size: int) -> list[int]:
    """Give the rows, and columns, of the centres of alignment patterns up to version 13."""
    if version == 1:
        return []
    return [6, size - 7] if version < 7 else [6, (6 + size - 7) // 2, size - 7]
