"""Detection of a picture's type by the beginning of its file, with a bounded number of small reads and no decoding."""

import re
import struct
from typing import IO, Final

# Enough for a file's signature with the size after it, and for a segment's head after fill bytes.
HEAD_BYTES: Final = 32
PIECE_BYTES: Final = 64
# Colour profiles, previews and descriptions take several segments of at most 64 KiB each.
MOST_SEGMENTS: Final = 256
# The largest cameras make as many pixels. A browser that draws a larger picture has no memory left for its page.
MOST_PIXELS: Final = 200 * 1024 * 1024

PNG: Final = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"
GIF: Final = (b"GIF87a", b"GIF89a")
JPEG: Final = b"\xff\xd8\xff"
MARKER: Final = re.compile(rb"\xff([\x01-\xfe])")
# Markers (ITU-T T.81, table B.1): frames, which hold the size; markers without a length; those that end the head.
FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
WITHOUT_LENGTH: Final = frozenset({0x01, *range(0xD0, 0xD8)})
ENDS: Final = frozenset({0xD8, 0xD9, 0xDA})
LEAST_LENGTH: Final = 2

Size = tuple[int, int]


def picture_type_of(file: IO[bytes]) -> str | None:
    """Detect a PNG, JPEG, WebP or GIF. None for other files, and for pictures with no size or with too many pixels."""
    file.seek(0)
    head = file.read(HEAD_BYTES)
    found = _told(file, head)
    if found is None:
        return None
    content_type, (width, height) = found
    return content_type if 0 < width * height <= MOST_PIXELS else None


def _told(file: IO[bytes], head: bytes) -> tuple[str, Size] | None:
    if len(head) < HEAD_BYTES:
        return None
    if head.startswith(PNG):
        return "image/png", struct.unpack_from(">II", head, len(PNG))
    if head.startswith(GIF):
        return "image/gif", struct.unpack_from("<HH", head, 6)
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        size = _webp_size(head)
        return ("image/webp", size) if size else None
    if head.startswith(JPEG):
        size = _jpeg_size(file)
        return ("image/jpeg", size) if size else None
    return None


def _webp_size(head: bytes) -> Size | None:
    """Read the size from the first chunk, which is one of three kinds (RFC 9649)."""
    kind, content = head[12:16], head[20:]
    if kind == b"VP8X":
        return _number(content[4:7]) + 1, _number(content[7:10]) + 1
    if kind == b"VP8L" and content[0] == 0x2F:
        bits = _number(content[1:5])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and content[3:6] == b"\x9d\x01\x2a":
        return _number(content[6:8]) & 0x3FFF, _number(content[8:10]) & 0x3FFF
    return None


def _jpeg_size(file: IO[bytes]) -> Size | None:
    """Read the size from the first frame. Skips other segments by their lengths."""
    at = 2
    for _ in range(MOST_SEGMENTS):
        file.seek(at)
        piece = file.read(PIECE_BYTES)
        found = MARKER.search(piece)
        if found is None or found[1][0] in ENDS:
            return None
        marker, start = found[1][0], found.end()
        if marker in WITHOUT_LENGTH:
            at += start
            continue
        segment = piece[start : start + 7]  # its length, the bits of a sample, height and width
        if marker in FRAMES:
            height, width = struct.unpack(">xxxHH", segment) if len(segment) == 7 else (0, 0)
            return width, height
        length = int.from_bytes(segment[:2], "big")
        if length < LEAST_LENGTH:
            return None
        at += start + length
    return None


def _number(content: bytes) -> int:
    return int.from_bytes(content, "little")
