"""Fetches files of received messages, and stores them among the workspace's media."""

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import datetime, timedelta
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import IO, Final, cast

from django.db import connections, transaction
from django.db.models import F, QuerySet

from channelconnect.models import ChannelCredential
from channelconnect.providers.files import FileFault, fetch_file
from config.db import TimeOrExpression, database_now
from config.tries.counting import Try, begin_tries, next_rows, run_begun
from workspaces.conversations.models import MediaFetch, Message
from workspaces.conversations.services.conversations import announce_changes
from workspaces.media.models import Media
from workspaces.media.services import FileRefused, StorageUnavailable, add_media, store_file

logger = logging.getLogger(__name__)

BATCH: Final = 16
# A fetch that died is repeated after this time; none takes longer.
LEASE: Final = timedelta(minutes=2)
KIND: Final = "media fetch"
WAITS: Final = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 3_600))
# The provider keeps files for seven days. The age of a message does not say how long its file has been tried: messages
# of a chat history are old when they come.
MOST_TRIES: Final = len(WAITS) - 1 + 7 * 24
IN_MEMORY: Final = 1024 * 1024


def fetch_next(*, now: datetime) -> int:
    """Fetch the due files side by side. Returns how many were taken.

    A slow host delays the files beside it for as long as one file may take, but no later call.
    """
    taken = _take(now)
    if taken:
        with ThreadPoolExecutor(len(taken), thread_name_prefix="fetch") as pool:
            for done in as_completed([pool.submit(_fetch_in_thread, fetch, begun) for fetch, begun in taken]):
                done.result()
    return len(taken)


def due_fetches(now: TimeOrExpression) -> "QuerySet[MediaFetch]":
    """Return the files to fetch, in their order."""
    return MediaFetch.objects.filter(status=MediaFetch.Status.PENDING, due_at__lte=now).order_by("due_at")


@transaction.atomic
def _take(now: datetime) -> Sequence[tuple[MediaFetch, Try]]:
    """Take files; nobody else takes them until their lease ends.

    A file whose process died is taken alone, after all others. So a file that kills its process takes others with it
    only once. If many wait, such as those of a chat history, half of the places are for the newest files.
    """
    due = due_fetches(now).select_for_update(skip_locked=True)
    rows = next_rows(due, kind=KIND, most=BATCH)
    if len(rows) == BATCH:
        rows = rows[: BATCH // 2]
        newest = due.exclude(pk__in=[row.pk for row in rows]).order_by("-due_at")
        rows += next_rows(newest, kind=KIND, most=BATCH - len(rows))
    MediaFetch.objects.filter(pk__in=[row.pk for row in rows]).update(due_at=now + LEASE, tries=F("tries") + 1)
    begun = begin_tries(kind=KIND, keys=[row.pk for row in rows])
    return [(row, begun[str(row.pk)]) for row in rows]


def _fetch_in_thread(fetch: MediaFetch, begun: Try) -> None:
    try:
        run_begun(begun, partial(_fetch, fetch), give_up=partial(_give_up, fetch), counts_faults=True)
    finally:
        connections.close_all()


def _give_up(fetch: MediaFetch) -> None:
    message = Message.objects.filter(pk=fetch.pk).first()
    if message is not None:
        _fail(fetch, message, FileFault("broke_off", is_final=True))


def _fetch(fetch: MediaFetch) -> None:
    rows = Message.objects.select_related("conversation__workspace", "conversation__channel")
    message = rows.filter(pk=fetch.pk).first()
    if message is None:
        return  # its contact was removed meanwhile
    credential = ChannelCredential.objects.filter(channel_id=fetch.channel_id).first()
    with SpooledTemporaryFile(IN_MEMORY) as file:
        into = cast("IO[bytes]", file)
        try:
            if credential is None or credential.token is None:
                raise FileFault("channel_not_connected")
            fetch_file(
                platform=message.conversation.channel.platform,
                reference=fetch.reference,
                sha256=fetch.sha256,
                token=credential.token,
                into=into,
            )
            file.seek(0)
            _keep(fetch, message, into)
        except FileFault as fault:
            _fail(fetch, message, fault)
        except FileRefused:
            _fail(fetch, message, FileFault("refused", is_final=True))
        except StorageUnavailable:
            _fail(fetch, message, FileFault("storage_away"))


def _keep(fetch: MediaFetch, message: Message, file: IO[bytes]) -> None:
    workspace = message.conversation.workspace
    name = fetch.filename or f"{message.type}-{message.pk}"
    source = Media.Source.RECEIVED
    stored = store_file(workspace=workspace, file=file, filename=name, source=source, now=database_now())
    with transaction.atomic():
        shown = Message.objects.select_for_update(no_key=True).filter(pk=message.pk, removed_at=None)
        if not shown.exists():
            return  # deleted meanwhile: a stored file without a row is removed
        media = add_media(workspace=workspace, stored=stored, source=source, now=database_now())
        MediaFetch.objects.filter(pk=fetch.pk).update(status=MediaFetch.Status.READY, fault="")
        Message.objects.filter(pk=message.pk).update(media=media)
        announce_changes([(message.workspace_id, message.conversation_id)])


def _fail(fetch: MediaFetch, message: Message, fault: FileFault) -> None:
    """Put a file off. Give it up if it is gone, cannot be fetched, or was tried for some seven days."""
    now = database_now()
    logger.info("a file could not be fetched", extra={"row": fetch.pk, "code": fault.code, "tries": fetch.tries + 1})
    wait = WAITS[min(fetch.tries, len(WAITS) - 1)]
    changes: dict[str, object] = {"fault": fault.code, "due_at": now + wait}
    if fault.is_gone or fetch.tries >= MOST_TRIES:
        changes["status"] = MediaFetch.Status.EXPIRED
    elif fault.is_final:
        changes["status"] = MediaFetch.Status.FAILED
    with transaction.atomic():
        MediaFetch.objects.filter(pk=fetch.pk).update(**changes)
        if "status" in changes:
            announce_changes([(message.workspace_id, message.conversation_id)])
