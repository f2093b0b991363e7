"""Files of messages, given to WhatsApp before their message beside the loop, once for each number and some weeks."""

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Final

from django.db import Error, connections

from channelconnect.models import MediaUpload
from channelconnect.providers.files import FileFault, upload_file
from channelconnect.providers.messages import CallResult, Outcome, OutgoingFile
from channelconnect.sending.channels import ChannelSnapshot
from channelconnect.sending.sources import ClaimedMessage, Sent
from channelconnect.sending.transactions import project_transaction
from config.db import database_now
from workspaces.media.models import Media
from workspaces.media.services import MediaGone, StorageAway, read_media

logger = logging.getLogger(__name__)

AT_ONCE: Final = 4
# The provider keeps them for 30 days.
KEPT: Final = timedelta(days=29)
# What it says of a file that it no longer has, or cannot read.
LOST_FILES: Final = frozenset({"100", "100/33", "131009", "131052", "131053"})


class MediaUploads:
    """Only the thread of the loop uses it. Where an upload fails, the provider gets the file's link instead."""

    def __init__(self, on_done: Callable[[], None]) -> None:
        self._on_done = on_done
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="upload")
        self._running: list[tuple[ClaimedMessage, Future[str]]] = []

    @property
    def running(self) -> int:
        return len(self._running)

    def start(self, row: ClaimedMessage, file: OutgoingFile, channel: ChannelSnapshot, token: str) -> None:
        future = self._pool.submit(_provider_id, file.media or 0, channel, token)
        self._running.append((row, future))
        future.add_done_callback(lambda _: self._on_done())

    def take_done(self) -> list[ClaimedMessage]:
        """Give the messages whose files are ready, one way or the other."""
        # Each is asked once: one that ends meanwhile is done the next time.
        asked = [(row, future, future.done()) for row, future in self._running]
        self._running = [(row, future) for row, future, is_done in asked if not is_done]
        return [_with_file(row, _result_of(row, future)) for row, future, is_done in asked if is_done]

    def drop(self) -> list[ClaimedMessage]:
        """Give back the messages whose files are still on their way."""
        dropped = [row for row, _ in self._running]
        self._running = []
        return dropped

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def must_upload(channel: ChannelSnapshot, file: OutgoingFile | None) -> bool:
    return channel.platform == "whatsapp" and file is not None and file.media is not None and not file.provider_id


def is_of_lost_file(row: ClaimedMessage, outcome: Outcome) -> bool:
    """Whether a message was refused for the sake of a file that was uploaded before: it is tried once more."""
    is_refused = outcome.result in (CallResult.REFUSED, CallResult.STOPPED)
    return is_refused and _lost_upload(row, outcome) is not None and not row.tries


def forget_lost_files(results: Iterable[Sent]) -> None:
    """Have files uploaded anew for whose sake a message was refused, whether it is tried once more or not."""
    lost = [(one.row.channel_id, file) for one in results if (file := _lost_upload(one.row, one.outcome)) is not None]
    if not lost:
        return
    with project_transaction():
        for channel_id, file in lost:
            # What was uploaded anew meanwhile stays.
            kept = MediaUpload.objects.filter(channel_id=channel_id, media_id=file.media or 0)
            kept.filter(provider_id=file.provider_id).delete()


def _lost_upload(row: ClaimedMessage, outcome: Outcome) -> OutgoingFile | None:
    """Give the uploaded file of a message, where the provider's error may mean that it does not have it any more."""
    file, error = row.message.file, outcome.error
    is_lost = error is not None and error.code in LOST_FILES
    return file if is_lost and file is not None and file.media is not None and file.provider_id else None


def _result_of(row: ClaimedMessage, future: Future[str]) -> str:
    """Give the id that an upload ended with, or nothing: no fault of one file ends the loop."""
    fault = future.exception()
    if fault is None:
        return future.result()
    logger.error("an upload crashed", exc_info=fault, extra={"row": row.id})
    return ""


def _with_file(row: ClaimedMessage, provider_id: str) -> ClaimedMessage:
    file = row.message.file
    if file is None:
        return row
    # Without an id it goes by its link; in both cases nothing is uploaded any more.
    ready = file._replace(provider_id=provider_id, media=file.media if provider_id else None)
    return row._replace(message=row.message._replace(file=ready))


def _provider_id(media_id: int, channel: ChannelSnapshot, token: str) -> str:
    """Find a file's id, or upload it; empty where that fails."""
    try:
        known = MediaUpload.objects.filter(
            channel_id=channel.id, media_id=media_id, uploaded_at__gt=database_now() - KEPT
        ).first()
        return known.provider_id if known else _upload(media_id, channel, token)
    except (FileFault, MediaGone, StorageAway, Media.DoesNotExist, Error) as fault:
        logger.warning("a file could not be uploaded", extra={"media": media_id, "fault": str(fault)})
        return ""
    finally:
        connections.close_all()


def _upload(media_id: int, channel: ChannelSnapshot, token: str) -> str:
    media = Media.objects.get(pk=media_id)
    file = (media.filename, read_media(media), media.content_type)
    provider_id = upload_file(number_id=channel.sender_id, token=token, file=file)
    MediaUpload.objects.update_or_create(
        channel_id=channel.id,
        media_id=media_id,
        defaults={"provider_id": provider_id, "uploaded_at": database_now()},
    )
    return provider_id
