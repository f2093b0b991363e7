"""A file's size, digest, type and safe name. Files are read in pieces, never whole into memory."""

import hashlib
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO, Protocol

from workspaces.media.models import Media
from workspaces.media.services.content_types import MOST_DOCUMENT_BYTES, content_type_of, most_bytes_of
from workspaces.media.services.errors import FileIsEmpty, FileTooLarge
from workspaces.media.services.file_names import safe_filename

PIECE_BYTES = 256 * 1024


class Readable(Protocol):
    """A stream that gives bytes in pieces, and an empty piece at its end."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class MeasuredFile:
    """A seekable file with its name, type, size and digest."""

    file: IO[bytes]
    filename: str
    content_type: str
    size: int
    sha256: bytes


def measured_file(
    file: IO[bytes], filename: str, *, size: int, sha256: bytes, source: Media.Source = Media.Source.UPLOADED
) -> MeasuredFile:
    """Detect a file's type, and make its name safe. Raises `FileIsEmpty` or `FileTooLarge`."""
    if not size:
        raise FileIsEmpty
    name = safe_filename(filename)
    content_type = content_type_of(file, name)
    most_bytes = most_bytes_of(content_type, source)
    if size > most_bytes:
        raise FileTooLarge(most_bytes)
    return MeasuredFile(file, name, content_type, size, sha256)


def copied_stream(stream: Readable) -> tuple[IO[bytes], int, bytes]:
    """Copy a stream into a temporary file. Gives it with its size and SHA-256. Raises `FileTooLarge` while copying."""
    copy: IO[bytes] = SpooledTemporaryFile(PIECE_BYTES)  # noqa: SIM115  # the caller closes it
    size, digest = 0, hashlib.sha256()
    try:
        while piece := stream.read(PIECE_BYTES):
            size += len(piece)
            if size > MOST_DOCUMENT_BYTES:
                raise FileTooLarge(MOST_DOCUMENT_BYTES)
            digest.update(piece)
            copy.write(piece)
    except BaseException:
        copy.close()
        raise
    return copy, size, digest.digest()
