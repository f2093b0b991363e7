"""Storage in an S3 bucket. Only installations that use a bucket import this module, because its libraries are large."""

from typing import Any

from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from storages.backends.s3 import S3Storage

from workspaces.media.providers.storages import FilePart, StorageErrors

CONNECT_SECONDS, READ_SECONDS, TRIES = 3, 20, 3


class BucketStorage(S3Storage):  # type: ignore[misc]  # the library has no types
    """A bucket with private objects. Files are read only through this service, in pieces, never whole into memory."""

    faults: StorageErrors = (OSError, BotoCoreError, Boto3Error, ClientError)

    def __init__(self, **options: Any) -> None:
        # Other services than Amazon's have the bucket's name in the path, and do not know Amazon's newer checksums.
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

    def open_part(self, name: str, start: int, length: int) -> FilePart:
        try:
            found = self.bucket.Object(self._normalize_name(name)).get(Range=f"bytes={start}-{start + length - 1}")
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
                raise FileNotFoundError(name) from error
            raise
        return FilePart(found["Body"], length)
