"""Stores files, reads them as streams, and removes them.

First the file is stored, then its `Media` row. A removal deletes the row first. After a crash in between, the file is
removed later, by its `UnusedFile` row.
"""

import hashlib
import logging
import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Protocol

from django.core.files import File
from django.db import connection, transaction
from django.db.models import QuerySet

from agency.actors import Actor
from config.db import TimeOrExpression, database_now
from config.errors import NotFound
from config.hooks import Registry
from config.postgresql.arrays import integers
from workspaces.media.models import Media, MediaQuerySet, UnusedFile
from workspaces.media.providers.storages import FilePart, media_storage
from workspaces.media.services.content_types import MOST_DOCUMENT_BYTES, content_type_of, most_bytes_of
from workspaces.media.services.errors import (
    FileIsEmpty,
    FileRefused,
    FileTooLarge,
    MediaInUse,
    MediaNotFound,
    StorageUnavailable,
)
from workspaces.media.services.file_names import safe_filename
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services import record_workspace_activity

# Files are read in pieces, never whole into memory.

PIECE_BYTES = 256 * 1024


class Readable(Protocol):
    """A stream that gives bytes in pieces, and an empty piece at its end."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class InspectedFile:
    """A seekable file with its name, type, size and digest."""

    file: IO[bytes]
    filename: str
    content_type: str
    size: int
    sha256: bytes


def inspect_file(
    file: IO[bytes], filename: str, *, size: int, sha256: bytes, source: Media.Source = Media.Source.UPLOADED
) -> InspectedFile:
    """Detect a file's type, and make its name safe. Raises `FileIsEmpty` or `FileTooLarge`."""
    if not size:
        raise FileIsEmpty
    name = safe_filename(filename)
    content_type = content_type_of(file, name)
    most_bytes = most_bytes_of(content_type, source)
    if size > most_bytes:
        raise FileTooLarge(most_bytes)
    return InspectedFile(file, name, content_type, size, sha256)


def copy_stream(stream: Readable) -> tuple[IO[bytes], int, bytes]:
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
    *, workspace: Workspace, file: Readable, filename: str, now: datetime, source: Media.Source = Media.Source.UPLOADED
) -> StoredFile:
    """Put a stream into the storage, in pieces. Call it outside of any transaction, because it may use the network.

    Unless `add_media` follows, the file is removed after `ABANDONED_AFTER`. Raises `FileRefused` (empty or too large)
    and `StorageUnavailable`.
    """
    copy, size, sha256 = copy_stream(file)
    with copy:
        measured = inspect_file(copy, filename, size=size, sha256=sha256, source=source)
        return store_inspected_file(workspace=workspace, measured=measured, now=now)


def store_inspected_file(*, workspace: Workspace, measured: InspectedFile, now: datetime) -> StoredFile:
    """Put a measured file into the storage, as `store_file` does."""
    name = f"{workspace.uuid}/{uuid.uuid4().hex}"
    with transaction.atomic(durable=True):
        UnusedFile.objects.create(storage_name=name, due_at=now + ABANDONED_AFTER)
    measured.file.seek(0)
    storage = media_storage()
    try:
        kept = storage.save(name, _content(measured))
    except storage.faults as error:
        raise StorageUnavailable from error
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


def _content(measured: InspectedFile) -> Any:
    content: Any = File(measured.file, name=measured.filename)
    content.size = measured.size
    content.content_type = measured.content_type  # a bucket stores it with the object
    return content


class MediaFileMissing(NotFound):
    """The row exists, but the storage has no such file."""

    message = "Media not found."


def open_media(media: Media, *, start: int = 0, length: int | None = None) -> FilePart:
    """Open a file, or `length` bytes of it. The caller closes it.

    Raises `MediaFileMissing` and `StorageUnavailable`.
    """
    storage = media_storage()
    try:
        return storage.open_part(media.storage_name, start, media.size - start if length is None else length)
    except FileNotFoundError as error:
        raise MediaFileMissing from error
    except storage.faults as error:
        raise StorageUnavailable from error


def read_media(media: Media) -> bytes:
    """Read a whole file. Raises `MediaFileMissing`, and `StorageUnavailable` even in the middle of the file."""
    with open_media(media) as part:
        try:
            return part.read()
        except media_storage().faults as error:
            raise StorageUnavailable from error


logger = logging.getLogger(__name__)

# The waits after failed removals: the first is a minute, and they double up to a day.
FIRST_WAIT, LONGEST_WAIT = timedelta(minutes=1), timedelta(days=1)
MOST_DOUBLED = 11
REMOVE = """
WITH gone AS (DELETE FROM media_media WHERE id = ANY (%s::bigint[]) RETURNING storage_name)
INSERT INTO media_unusedfile (storage_name, due_at, tries) SELECT storage_name, %s, 0 FROM gone
"""


@dataclass(frozen=True, slots=True)
class MediaUse:
    """An app's use of files. `find` describes the object that needs a file, for people to read; None without one.

    `among` keeps those files of a set that an object needs or shows. The automatic removal leaves these out.
    """

    name: str
    find: Callable[[Media], str | None]
    among: Callable[[MediaQuerySet], MediaQuerySet]


media_uses = Registry[MediaUse](
    "uses of media",
    called=(
        "`remove_media` calls `find` of each until one names an object, `remove_unneeded_media` calls `among` of "
        "all, under the files' locks"
    ),
    transaction="the caller's",
    failure="rolls the caller back",
)


@transaction.atomic
def remove_media(*, media: Media, now: datetime, by: Actor) -> None:
    """Remove a file for good. Raises `MediaInUse` if something needs it, and `MediaNotFound`."""
    locked = Media.objects.select_for_update().select_related("workspace").filter(pk=media.pk).first()
    if locked is None:
        raise MediaNotFound
    for use in media_uses:
        needed_by = use.find(locked)
        if needed_by:
            raise MediaInUse(f"This file is needed by {needed_by}.")
    record_workspace_activity(
        workspace=locked.workspace, action="media.removed", by=by, details={"filename": locked.filename}
    )
    UnusedFile.objects.create(storage_name=locked.storage_name, due_at=now)
    locked.delete()


@transaction.atomic
def remove_unneeded_media(*, media: Collection[int], now: datetime) -> int:
    """Remove those of the files that came in messages and that nothing needs or shows any more. Gives their number.

    The rows are locked before the uses are checked, so that no new use comes in between.
    """
    received = Media.objects.filter(pk__in=media, source=Media.Source.RECEIVED).order_by("pk").select_for_update()
    locked = Media.objects.filter(pk__in=list(received.values_list("pk", flat=True)))
    free = locked
    for use in media_uses:
        free = free.exclude(pk__in=use.among(locked).values("pk"))
    with connection.cursor() as cursor:
        cursor.execute(REMOVE, [integers(list(free.values_list("pk", flat=True))), now])
        removed: int = cursor.rowcount
    return removed


def remove_next_unused_file() -> bool:
    """Remove the file that has been due for longest from the storage. Gives False if no file is due.

    Its row is postponed before the removal and deleted after it, so that a crash only repeats the removal.
    """
    now = database_now()
    with transaction.atomic():
        unused = due_unused_files(now).select_for_update(skip_locked=True).first()
        if unused is None:
            return False
        unused.due_at = now + min(FIRST_WAIT * 2 ** min(unused.tries, MOST_DOUBLED), LONGEST_WAIT)
        unused.tries += 1
        unused.save(update_fields=["due_at", "tries"])
    storage = media_storage()
    try:
        storage.delete(unused.storage_name)
    except storage.faults as error:
        logger.warning("a file is removed later", extra={"file": unused.storage_name, "reason": type(error).__name__})
        return True
    unused.delete()
    return True


def due_unused_files(now: TimeOrExpression) -> "QuerySet[UnusedFile]":
    """Give the files that are due to be removed from the storage, in their order."""
    return UnusedFile.objects.filter(due_at__lte=now).order_by("due_at", "id")
