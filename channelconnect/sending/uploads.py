"""Uploads files to WhatsApp before their messages are sent: once for each number and some weeks."""

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Final, Generic, NamedTuple, TypeVar

from django.db import Error, connections

from channelconnect.models import MediaUpload
from channelconnect.providers.files import FileFault, upload_file
from channelconnect.providers.message_results import CallResult, Outcome
from channelconnect.providers.messages import OutgoingFile
from channelconnect.sending.channels import ChannelSnapshot
from channelconnect.sending.sources import ClaimedMessage, MessageResult, project_transaction
from config.db import database_now
from workspaces.media.models import Media
from workspaces.media.services import MediaFileMissing, StorageUnavailable, read_media

PER_CHANNEL: Final = 2
# Slow uploads, and those of channels whose last upload was slow, have separate places.
QUICK_UPLOADS: Final = 4
SLOW_UPLOADS: Final = 4
AT_ONCE: Final = QUICK_UPLOADS + SLOW_UPLOADS
SLOW_SECONDS: Final = 2.0
REMEMBER_SECONDS: Final = 60.0
# Memory holds a file while it is uploaded, and the request's body made from it. A larger file is uploaded alone.
MOST_BYTES: Final = 128 * 1024 * 1024
# Once smaller files have overtaken a large file for this long, others start only if it still fits beside them.
PASSED_SECONDS: Final = 5.0

Item = TypeVar("Item", bound=Hashable)


class Running(NamedTuple):
    channel: int
    size: int
    began_at: float


class UploadQueue(Generic[Item]):
    """Waiting and running uploads. Only the loop's thread uses it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: dict[int, deque[tuple[Item, int]]] = {}
        self._running: dict[Item, Running] = {}
        self._of_channel: Counter[int] = Counter()
        self._bytes = 0
        self._passed: dict[Item, tuple[int, float]] = {}
        self._slow: set[Item] = set()
        self._slow_until: dict[int, float] = {}

    def __len__(self) -> int:
        return len(self._running) + sum(map(len, self._waiting.values()))

    def add(self, item: Item, *, channel: int, size: int) -> None:
        """Let an item of a channel wait for its turn."""
        self._waiting.setdefault(channel, deque()).append((item, size))

    def take_next(self) -> list[Item]:
        """Return the items to start now. Channels that got an item move to the end of the line."""
        taken: list[Item] = []
        for channel in list(self._waiting):
            waiting, before = self._waiting[channel], len(taken)
            while waiting and self._has_place(channel) and self._has_room(*waiting[0]):
                item, size = waiting.popleft()
                self._start(item, channel, size)
                taken.append(item)
            if len(taken) > before:
                self._end_turn(channel)
        return taken

    def finish(self, item: Item) -> bool:
        """Free an upload's place. Returns whether it was slow."""
        running = self._running.pop(item)
        self._bytes -= running.size
        self._of_channel[running.channel] -= 1
        was_slow = item in self._slow
        self._slow.discard(item)
        if not was_slow:
            self._slow_until.pop(running.channel, None)
        return was_slow

    def mark_slow(self) -> list[Item]:
        """Return the uploads that have become slow since the last call."""
        now = self._clock()
        late = [
            item
            for item, running in self._running.items()
            if item not in self._slow and now - running.began_at >= SLOW_SECONDS
        ]
        self._slow.update(late)
        for item in self._slow:
            self._slow_until[self._running[item].channel] = now + REMEMBER_SECONDS
        self._slow_until = {channel: until for channel, until in self._slow_until.items() if until > now}
        return late

    @property
    def slow(self) -> frozenset[Item]:
        """The uploads that are marked as slow."""
        return frozenset(self._slow)

    def drop_waiting(self) -> None:
        """Drop waiting items. Running uploads keep their places until they end."""
        self._waiting.clear()
        self._passed.clear()

    def _has_room(self, item: Item, size: int) -> bool:
        """Say whether memory has room for a file now, and remember since when it has not."""
        most = self._most_bytes_beside(item)
        if self._bytes + size > most and (self._running or most < MOST_BYTES):
            self._passed.setdefault(item, (size, self._clock()))
            return False
        return True

    def _most_bytes_beside(self, item: Item) -> int:
        """Return how many bytes may be held beside `item`, minus those for a file that was overtaken for too long."""
        before = self._clock() - PASSED_SECONDS
        passed = next(((one, size) for one, (size, since) in self._passed.items() if since <= before), None)
        return MOST_BYTES if passed is None or passed[0] == item else max(0, MOST_BYTES - passed[1])

    def _has_place(self, channel: int) -> bool:
        if self._of_channel[channel] >= (1 if channel in self._slow_until else PER_CHANNEL):
            return False
        slow = sum(one.channel in self._slow_until for one in self._running.values())
        if channel in self._slow_until:
            return slow < SLOW_UPLOADS
        return len(self._running) - slow < QUICK_UPLOADS and len(self._running) < AT_ONCE

    def _start(self, item: Item, channel: int, size: int) -> None:
        self._running[item] = Running(channel, size, self._clock())
        self._of_channel[channel] += 1
        self._bytes += size
        self._passed.pop(item, None)

    def _end_turn(self, channel: int) -> None:
        waiting = self._waiting.pop(channel)
        if waiting:
            self._waiting[channel] = waiting


logger = logging.getLogger(__name__)

# The provider keeps them for 30 days.
KEPT: Final = timedelta(days=29)
# The provider's errors for a file that it no longer has or cannot read.
LOST_FILES: Final = frozenset({"100", "100/33", "131009", "131052", "131053"})


class Upload(NamedTuple):
    """A message that waits for its file."""

    row: ClaimedMessage
    file: OutgoingFile
    channel: ChannelSnapshot
    token: str


class UploadedMessage(NamedTuple):
    """A message whose upload has ended, well or not."""

    row: ClaimedMessage
    was_slow: bool


class MediaUploads:
    """The uploads of one run. Only the loop's thread uses it. If an upload fails, the provider gets the file's link."""

    def __init__(self, on_done: Callable[[], None]) -> None:
        self._on_done = on_done
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="upload")
        self._turns = UploadQueue[int]()
        self._uploads: dict[int, Upload] = {}
        self._futures: dict[int, Future[str]] = {}
        self._next_key = 0

    @property
    def running(self) -> int:
        return len(self._uploads)

    def start(self, row: ClaimedMessage, file: OutgoingFile, channel: ChannelSnapshot, token: str) -> None:
        """Upload a file as soon as its channel has a turn."""
        self._next_key += 1
        self._uploads[self._next_key] = Upload(row, file, channel, token)
        self._turns.add(self._next_key, channel=row.channel_id, size=file.size)
        self._start_next()

    def take_done(self) -> list[UploadedMessage]:
        """Return the messages whose files are ready, and start the next uploads."""
        # Each future is checked once; one that ends meanwhile is handled the next time.
        done = [key for key, future in self._futures.items() if future.done()]
        found = []
        for key in done:
            future, was_slow = self._futures.pop(key), self._turns.finish(key)
            upload = self._uploads.pop(key, None)
            # An upload whose message was given back meanwhile has only kept its place.
            if upload is not None:
                found.append(UploadedMessage(_with_file(upload.row, _result_of(upload.row, future)), was_slow))
        if done:
            self._start_next()
        return found

    def mark_slow(self) -> list[ClaimedMessage]:
        """Return the messages whose uploads have become slow."""
        late = self._turns.mark_slow()
        if late:
            self._start_next()
        return [self._uploads[key].row for key in late if key in self._uploads]

    def drop(self) -> list[UploadedMessage]:
        """Give back the messages whose files are not ready. Running uploads go on and keep their places."""
        slow = self._turns.slow
        dropped = [UploadedMessage(upload.row, key in slow) for key, upload in self._uploads.items()]
        self._turns.drop_waiting()
        self._uploads = {}
        return dropped

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _start_next(self) -> None:
        for key in self._turns.take_next():
            upload = self._uploads[key]
            future = self._pool.submit(_provider_id, upload.file.media or 0, upload.channel, upload.token)
            self._futures[key] = future
            future.add_done_callback(lambda _: self._on_done())


def must_upload(channel: ChannelSnapshot, file: OutgoingFile | None) -> bool:
    return channel.platform == "whatsapp" and file is not None and file.media is not None and not file.provider_id


def is_of_lost_file(row: ClaimedMessage, outcome: Outcome) -> bool:
    """Whether a message was refused because of a file that was uploaded earlier. Such a message is tried once more."""
    is_refused = outcome.result in (CallResult.REFUSED, CallResult.STOPPED)
    return is_refused and _lost_upload(row, outcome) is not None and not row.tries


def forget_lost_files(results: Iterable[MessageResult]) -> None:
    """Delete uploads for which a message was refused, so that the files are uploaded again for any later message."""
    found = ((one.row.channel_id, _lost_upload(one.row, one.outcome)) for one in results)
    lost = [(channel, file.media, file.provider_id) for channel, file in found if file and file.media is not None]
    if not lost:
        return
    with project_transaction():
        for channel_id, media, provider_id in lost:
            # A newer upload of the same file stays.
            MediaUpload.objects.filter(channel_id=channel_id, media_id=media, provider_id=provider_id).delete()


def _lost_upload(row: ClaimedMessage, outcome: Outcome) -> OutgoingFile | None:
    """Return a message's uploaded file if the provider's error may mean that it no longer has the file."""
    file, error = row.message.file, outcome.error
    is_lost = error is not None and error.code in LOST_FILES
    return file if is_lost and file is not None and file.media is not None and file.provider_id else None


def _result_of(row: ClaimedMessage, future: Future[str]) -> str:
    """Return the id of an upload, or an empty text. A fault of one file must not end the loop."""
    fault = future.exception()
    if fault is None:
        return future.result()
    logger.error("an upload crashed", exc_info=fault, extra={"row": row.id})
    return ""


def _with_file(row: ClaimedMessage, provider_id: str) -> ClaimedMessage:
    file = row.message.file
    if file is None:
        return row
    # Without an id the message uses the file's link. In both cases nothing more is uploaded.
    ready = file._replace(provider_id=provider_id, media=file.media if provider_id else None)
    return row._replace(message=row.message._replace(file=ready))


def _provider_id(media_id: int, channel: ChannelSnapshot, token: str) -> str:
    """Return the id of an earlier upload, or upload the file; empty if that fails."""
    try:
        known = MediaUpload.objects.filter(
            channel_id=channel.id, media_id=media_id, uploaded_at__gt=database_now() - KEPT
        ).first()
        return known.provider_id if known else _upload(media_id, channel, token)
    except (FileFault, MediaFileMissing, StorageUnavailable, Media.DoesNotExist, Error) as fault:
        logger.warning("a file could not be uploaded", extra={"media": media_id, "fault": str(fault)})
        return ""
    finally:
        connections.close_all()


def _upload(media_id: int, channel: ChannelSnapshot, token: str) -> str:
    media = Media.objects.get(pk=media_id)
    file = (media.filename, read_media(media), media.content_type)
    provider_id = upload_file(number_id=channel.sender_id, token=token, file=file)
    MediaUpload.objects.update_or_create(
        channel_id=channel.id, media_id=media_id, defaults={"provider_id": provider_id, "uploaded_at": database_now()}
    )
    return provider_id
