"""The storages of files: a directory, or a bucket (module `buckets`). `settings.STORAGES` chooses one."""

import os
from typing import IO, Any, Protocol, cast

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage, storages

StorageErrors = tuple[type[Exception], ...]


class FilePart:
    """The next `length` bytes of a file, read in pieces."""

    def __init__(self, file: IO[bytes], length: int) -> None:
        self._file, self._left = file, length

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(piece)
        return piece

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> "FilePart":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class MediaStorage(Protocol):
    """The interface of a storage. `faults` are the errors of a storage that is unreachable, full or misconfigured."""

    faults: StorageErrors

    def save(self, name: str, content: "File[bytes]") -> str: ...

    def delete(self, name: str) -> None: ...

    def open_part(self, name: str, start: int, length: int) -> FilePart:
        """Give a part of a file as a stream. Raises `FileNotFoundError`, and other `faults`."""


class LocalStorage(FileSystemStorage):
    """A directory of this host, or one that all hosts mount."""

    faults: StorageErrors = (OSError,)

    def _save(self, name: str, content: "File[bytes]") -> str:
        """Write a file, and return only when it is on the disk, because its row is committed next."""
        untyped: Any = super()
        kept: str = untyped._save(name, content)
        for path in (self.path(kept), os.path.dirname(self.path(kept))):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        return kept

    def open_part(self, name: str, start: int, length: int) -> FilePart:
        file = open(self.path(name), "rb")  # noqa: SIM115  # the answer closes it
        file.seek(start)
        return FilePart(file, length)


def media_storage() -> MediaStorage:
    return cast("MediaStorage", storages["media"])
