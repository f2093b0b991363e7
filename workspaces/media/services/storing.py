"""Storing files: first the file, then its `Media` row. After a crash in between, the file is removed later."""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.files import File
from django.db import transaction

from workspaces.media.models import Media, UnusedFile
from workspaces.media.providers.storages import media_storage
from workspaces.media.services.errors import FileRefused, StorageAway
from workspaces.media.services.measuring import MeasuredFile, Readable, copied_stream, measured_file
from workspaces.subaccounts.models import Workspace

# A file without a `Media` row is removed after this time. Storing a file never takes as long.
ABANDONED_AFTER = timedelta(hours=2)


class NotStoredInTime(FileRefused):
    message = "The file took too long. Send it again."


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that is in the storage but has no `Media` row yet."""

    storage_name: str
    filename: str
    content_type: str
    size: int
    sha256: bytes


def store_file(
    *,
    workspace: Workspace,
    file: Readable,
    filename: str,
    now: datetime,
    source: Media.Source = Media.Source.UPLOADED,
) -> StoredFile:
    """Put a stream into the storage, in pieces. Call it outside of any transaction, because it may use the network.

    Unless `add_media` follows, the file is removed after `ABANDONED_AFTER`. Raises `FileRefused` (empty or too large)
    and `StorageAway`.
    """
    copy, size, sha256 = copied_stream(file)
    with copy:
        measured = measured_file(copy, filename, size=size, sha256=sha256, source=source)
        return store_measured_file(workspace=workspace, measured=measured, now=now)


def store_measured_file(*, workspace: Workspace, measured: MeasuredFile, now: datetime) -> StoredFile:
    """Put a measured file into the storage, as `store_file` does."""
    name = f"{workspace.uuid}/{uuid.uuid4().hex}"
    with transaction.atomic(durable=True):
        UnusedFile.objects.create(storage_name=name, due_at=now + ABANDONED_AFTER)
    measured.file.seek(0)
    storage = media_storage()
    try:
        kept = storage.save(name, _content(measured))
    except storage.faults as error:
        raise StorageAway from error
    if kept != name:
        raise RuntimeError("The storage gave a file another name.")
    return StoredFile(name, measured.filename, measured.content_type, measured.size, measured.sha256)


@transaction.atomic
def add_media(
    *, workspace: Workspace, stored: StoredFile, now: datetime, source: Media.Source = Media.Source.UPLOADED
) -> Media:
    """Add a stored file to the workspace's files. Raises `NotStoredInTime` if it was removed already."""
    found, _ = UnusedFile.objects.filter(storage_name=stored.storage_name).delete()
    if not found:
        raise NotStoredInTime
    return Media.objects.create(
        workspace_id=workspace.pk,
        storage_name=stored.storage_name,
        filename=stored.filename,
        content_type=stored.content_type,
        size=stored.size,
        sha256=stored.sha256,
        source=source,
        created_at=now,
    )


def store_media(*, workspace: Workspace, file: Readable, filename: str, source: Media.Source, now: datetime) -> Media:
    """Store a stream and add it to the workspace's files, by `store_file` and `add_media`."""
    stored = store_file(workspace=workspace, file=file, filename=filename, now=now, source=source)
    return add_media(workspace=workspace, stored=stored, source=source, now=now)


def _content(measured: MeasuredFile) -> Any:
    content: Any = File(measured.file, name=measured.filename)
    content.size = measured.size
    content.content_type = measured.content_type  # a bucket stores it with the object
    return content
