"""The storages that files are kept in: a directory, or a bucket that speaks S3. `settings.STORAGES` chooses one."""

import os
from typing import IO, Any, Protocol, cast

from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.core.files.storage import FileSystemStorage, storages
from storages.backends.s3 import S3Storage

# What a storage that is away, full or misconfigured raises.
STORAGE_FAULTS = (OSError, BotoCoreError, Boto3Error, ClientError)
CONNECT_SECONDS, READ_SECONDS, TRIES = 3, 20, 3


class Part:
    """The next so many bytes of a file, read in pieces."""

    def __init__(self, file: IO[bytes], length: int) -> None:
        self._file, self._left = file, length

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(piece)
        return piece

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> "Part":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class MediaStorage(Protocol):
    """What the product asks of a storage."""

    def save(self, name: str, content: Any) -> str: ...

    def delete(self, name: str) -> None: ...

    def open_part(self, name: str, start: int, length: int) -> Part:
        """Give a part of a file as a stream. Raises `FileNotFoundError`, and other `STORAGE_FAULTS`."""


class LocalStorage(FileSystemStorage):
    """A directory of this host, or one that all hosts mount."""

    def _save(self, name: str, content: Any) -> str:
        """Write a file, and return when it is on the disk: its row is committed next."""
        untyped: Any = super()
        kept: str = untyped._save(name, content)
        for path in (self.path(kept), os.path.dirname(self.path(kept))):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        return kept

    def open_part(self, name: str, start: int, length: int) -> Part:
        file = open(self.path(name), "rb")  # noqa: SIM115  # the answer closes it
        file.seek(start)
        return Part(file, length)


class BucketStorage(S3Storage):  # type: ignore[misc]  # the library has no types
    """A bucket whose objects are private: they are read through us alone, in pieces, never whole into memory."""

    def __init__(self, **options: Any) -> None:
        # Buckets of others than Amazon's stand in the path, and know none of its newer checksums.
        style = "path" if options.get("endpoint_url") else "auto"
        client = Config(
            s3={"addressing_style": style},
            signature_version="s3v4",
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"total_max_attempts": TRIES, "mode": "standard"},
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        super().__init__(client_config=client, default_acl=None, file_overwrite=True, **options)

    def open_part(self, name: str, start: int, length: int) -> Part:
        try:
            found = self.bucket.Object(self._normalize_name(name)).get(Range=f"bytes={start}-{start + length - 1}")
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
                raise FileNotFoundError(name) from error
            raise
        return Part(found["Body"], length)


def media_storage() -> MediaStorage:
    return cast("MediaStorage", storages["media"])
