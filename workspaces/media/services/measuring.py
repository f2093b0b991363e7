"""How much a file holds, and which: counted while it is read in pieces, never whole in memory."""

import hashlib
from tempfile import SpooledTemporaryFile
from typing import IO, Protocol

from workspaces.media.services.content_types import content_type_of, most_bytes_of
from workspaces.media.services.errors import FileIsEmpty, FileTooLarge

PIECE_BYTES = 256 * 1024


class Readable(Protocol):
    """What gives bytes in pieces, and nothing at its end."""

    def read(self, size: int, /) -> bytes: ...


class MeasuredFile:
    """A copy of a stream in a temporary file, with its name, its type by content, its size and its SHA-256."""

    def __init__(self, stream: Readable, filename: str, *, most_bytes: int) -> None:
        """Copy a stream. Raises `FileIsEmpty` or `FileTooLarge`: as soon as it is past `most_bytes`, or its type's."""
        self.filename = filename
        self.file: IO[bytes] = SpooledTemporaryFile(PIECE_BYTES)  # noqa: SIM115  # `close` does
        try:
            self.size, self.sha256 = self._copy(stream, most_bytes)
            self.content_type = content_type_of(self.file, filename)
            if self.size > most_bytes_of(self.content_type):
                raise FileTooLarge(most_bytes_of(self.content_type))
        except BaseException:
            self.close()
            raise

    def _copy(self, stream: Readable, most_bytes: int) -> tuple[int, bytes]:
        size, digest = 0, hashlib.sha256()
        while piece := stream.read(PIECE_BYTES):
            size += len(piece)
            if size > most_bytes:
                raise FileTooLarge(most_bytes)
            digest.update(piece)
            self.file.write(piece)
        if not size:
            raise FileIsEmpty
        return size, digest.digest()

    def close(self) -> None:
        self.file.close()

    def __enter__(self) -> "MeasuredFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
