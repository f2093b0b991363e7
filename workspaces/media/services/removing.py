"""Removing files: first the `Media` row, then the file in the storage, by its `UnusedFile` row."""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import QuerySet

from agency.actors import Actor
from config.db import TimeOrExpression, database_now
from config.hooks import Registry
from config.postgresql.arrays import integers
from workspaces.media.models import Media, MediaQuerySet, UnusedFile
from workspaces.media.providers.storages import media_storage
from workspaces.media.services.errors import MediaInUse, MediaNotFound
from workspaces.subaccounts.services import record_workspace_activity

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
