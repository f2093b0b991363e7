"""Detection of a file's type by its content. The name only decides between types that look alike."""

import re
import zipfile
from io import BytesIO
from os import SEEK_END
from typing import IO, Final

import puremagic

from workspaces.media.models import Media
from workspaces.media.services.file_names import extension_of
from workspaces.media.services.picture_heads import picture_type_of

MIB: Final = 1024 * 1024
MOST_BYTES: Final = 16 * MIB
MOST_DOCUMENT_BYTES: Final = 100 * MIB

# The type of unknown files. Browsers do not show such a file, and it is served only as an attachment.
UNKNOWN: Final = "application/octet-stream"
HEAD_BYTES: Final = 4096
# The end of a ZIP file lists its parts. An office document's list is small; other files may list millions.
MOST_DIRECTORY_BYTES: Final = 512 * 1024

# The first bytes of sounds and films. The text after `ftyp` names the profile.
SOUNDS_AND_FILMS: Final[tuple[tuple[re.Pattern[bytes], str], ...]] = (
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
NO_TEXT: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


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
    return next((name for pattern, name in SOUNDS_AND_FILMS if pattern.match(head)), None)


def _office(file: IO[bytes], head: bytes, filename: str) -> str | None:
    if head.startswith(OLD_OFFICE_HEAD):
        return OLD_OFFICE.get(extension_of(filename))
    if not head.startswith(b"PK\x03\x04"):
        return None
    opened = OPEN_DOCUMENT.match(head)
    return opened[1].decode() if opened else _parts(file)


def _parts(file: IO[bytes]) -> str | None:
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
    if not head or NO_TEXT.search(head) or MARKUP.search(head):
        return None
    return TEXTS.get(extension_of(filename), "text/plain")
