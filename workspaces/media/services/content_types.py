"""Detects a file's type by its content. The name only decides between types that look alike."""

import re
import struct
import zipfile
from io import BytesIO
from os import SEEK_END
from typing import IO, Final

import puremagic

from workspaces.media.models import Media
from workspaces.media.services.file_names import extension_of

# Enough for a file's signature with the size after it, and for a segment's head after fill bytes.
PICTURE_HEAD_BYTES: Final = 32
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
    head = file.read(PICTURE_HEAD_BYTES)
    found = _type_and_size(file, head)
    if found is None:
        return None
    content_type, (width, height) = found
    return content_type if 0 < width * height <= MOST_PIXELS else None


def _type_and_size(file: IO[bytes], head: bytes) -> tuple[str, Size] | None:
    if len(head) < PICTURE_HEAD_BYTES:
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


MIB: Final = 1024 * 1024
MOST_BYTES: Final = 16 * MIB
MOST_DOCUMENT_BYTES: Final = 100 * MIB

# The type of unknown files. Browsers do not show such a file, and it is served only as an attachment.
UNKNOWN: Final = "application/octet-stream"
HEAD_BYTES: Final = 4096
# The end of a ZIP file lists its parts. An office document's list is small; other files may list millions.
MOST_DIRECTORY_BYTES: Final = 512 * 1024

# The first bytes of sounds and films. The text after `ftyp` names the profile.
AUDIO_AND_VIDEO: Final[tuple[tuple[re.Pattern[bytes], str], ...]] = (
    (re.compile(rb"OggS.{23,40}?(?:OpusHead|\x01vorbis)", re.DOTALL), "audio/ogg"),
    (re.compile(rb"ID3[\x02-\x04]|\xff[\xfb\xfa\xf3\xf2\xe3\xe2]"), "audio/mpeg"),
    (re.compile(rb"\xff[\xf0\xf1\xf8\xf9]"), "audio/aac"),
    (re.compile(rb"#!AMR(?:-WB)?\n"), "audio/amr"),
    (re.compile(rb"RIFF.{4}WAVE", re.DOTALL), "audio/wav"),
    (re.compile(rb".{4}ftypM4[AB] ", re.DOTALL), "audio/mp4"),
    (re.compile(rb".{4}ftyp3g[p2eghrs]", re.DOTALL), "video/3gpp"),
    (re.compile(rb".{4}ftypqt  ", re.DOTALL), "video/quicktime"),
    (re.compile(rb".{4}ftyp(?:isom|iso[2-9]|mp4[12]|avc1|dash|M4V |mmp4|MSNV|f4v )", re.DOTALL), "video/mp4"),
    (re.compile(rb"\x1a\x45\xdf\xa3.{0,60}B\x82.webm", re.DOTALL), "video/webm"),
)
OPEN_DOCUMENT: Final = re.compile(
    rb"PK\x03\x04.{26}mimetype(application/vnd\.oasis\.opendocument\.(?:text|spreadsheet|presentation))", re.DOTALL
)
OFFICE: Final = "application/vnd.openxmlformats-officedocument."
OFFICE_PARTS: Final = {
    "word/document.xml": f"{OFFICE}wordprocessingml.document",
    "xl/workbook.xml": f"{OFFICE}spreadsheetml.sheet",
    "ppt/presentation.xml": f"{OFFICE}presentationml.presentation",
}
OLD_OFFICE: Final = {
    "doc": "application/msword",
    "xls": "application/vnd.ms-excel",
    "ppt": "application/vnd.ms-powerpoint",
}
OLD_OFFICE_HEAD: Final = bytes.fromhex("D0CF11E0A1B11AE1")
# The only types that are taken over from the library, because they are harmless.
DOCUMENTS: Final = frozenset({"application/pdf", "application/rtf", "text/vcard", "text/calendar"})
TEXTS: Final = {"csv": "text/csv", "vcf": "text/vcard", "ics": "text/calendar"}
# A file with such markup anywhere in its beginning does not count as text, because a browser might run it.
MARKUP: Final = re.compile(
    rb"<\s*(?:!doctype|!--|\?xml|\?php|html|head|body|script|svg|iframe|style|xsl)|^#!", re.IGNORECASE
)
BINARY_BYTES: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def content_type_of(file: IO[bytes], filename: str) -> str:
    """Detect the type of a seekable file; `application/octet-stream` for an unknown or unsafe one."""
    file.seek(0)
    head = file.read(HEAD_BYTES)
    found = picture_type_of(file) or _recording(head) or _office(file, head, filename) or _document(head)
    return found or _text(head, filename) or UNKNOWN


def most_bytes_of(content_type: str, source: Media.Source) -> int:
    """Give the largest size of a file of this type. Received files have the larger limit, as providers limit them."""
    is_small = source == Media.Source.UPLOADED and is_shown_by_browsers(content_type)
    return MOST_BYTES if is_small else MOST_DOCUMENT_BYTES


def is_shown_by_browsers(content_type: str) -> bool:
    """Say whether a file is a picture, a sound or a film. Browsers may open only these in place."""
    return content_type.startswith(("image/", "audio/", "video/"))


def _recording(head: bytes) -> str | None:
    return next((name for pattern, name in AUDIO_AND_VIDEO if pattern.match(head)), None)


def _office(file: IO[bytes], head: bytes, filename: str) -> str | None:
    if head.startswith(OLD_OFFICE_HEAD):
        return OLD_OFFICE.get(extension_of(filename))
    if not head.startswith(b"PK\x03\x04"):
        return None
    opened = OPEN_DOCUMENT.match(head)
    return opened[1].decode() if opened else _office_type_of_zip(file)


def _office_type_of_zip(file: IO[bytes]) -> str | None:
    """Detect an office document by the names of its parts. One with macros counts as unknown.

    `zipfile` gets only the end of the file, so that it cannot read more, whatever the file claims.
    """
    size = file.seek(0, SEEK_END)
    file.seek(max(0, size - MOST_DIRECTORY_BYTES))
    try:
        with zipfile.ZipFile(BytesIO(file.read(MOST_DIRECTORY_BYTES))) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return None
    if any(name.endswith("vbaProject.bin") for name in names):
        return None
    return next((kind for part, kind in OFFICE_PARTS.items() if part in names), None)


def _document(head: bytes) -> str | None:
    try:
        matches = puremagic.magic_string(head) if head else []
    except puremagic.PureError:
        return None
    return next((match.mime_type for match in matches if match.mime_type in DOCUMENTS), None)


def _text(head: bytes, filename: str) -> str | None:
    if not head or BINARY_BYTES.search(head) or MARKUP.search(head):
        return None
    return TEXTS.get(extension_of(filename), "text/plain")
