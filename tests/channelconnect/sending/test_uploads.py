"""Files that leave over WhatsApp are uploaded before their message, once for a number, and their id is used again."""

import io
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils.timezone import now

from channelconnect.models import MediaUpload
from channelconnect.providers.messages import OutgoingMessage, Recipient
from channelconnect.sending.channels import KnownChannels, read_channels
from channelconnect.sending.conversations import files_of
from channelconnect.sending.sources import ClaimedMessage
from channelconnect.sending.uploads import (
    MOST_BYTES,
    PASSED_SECONDS,
    PER_CHANNEL,
    SLOW_SECONDS,
    MediaUploads,
    UploadQueue,
)
from config.leases.connections import open_connection
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.messages import (
    NUMBERS,
    a_channel,
    a_conversation,
    a_message,
    ended,
    make_due,
    put_off,
)
from tests.tenants import Tenant
from tests.waiting import until, wait_for_lock
from tools.sandbox import RunningSandbox
from tools.sandbox.control.files import PNG
from workspaces.conversations.models import Message, QueuedMessage
from workspaces.media.models import Media
from workspaces.media.services import store_media
from workspaces.subaccounts.models import Channel


@pytest.fixture
def picture(transactional_db: None, a: Tenant) -> Media:
    source = Media.Source.UPLOADED
    return store_media(workspace=a.workspace, file=io.BytesIO(PNG), filename="dot.png", source=source, now=now())


def a_picture(a: Tenant, filename: str) -> Media:
    """One of its own, though it looks like the others."""
    content = PNG + filename.encode()
    source = Media.Source.UPLOADED
    return store_media(workspace=a.workspace, file=io.BytesIO(content), filename=filename, source=source, now=now())


def sent_pictures(meta: RunningSandbox) -> list[dict[str, Any]]:
    return [one["body"]["image"] for one in meta.ledger()["sent"]]


def test_a_file_is_uploaded_once_for_a_number(
    a: Tenant, meta: RunningSandbox, channel: Channel, picture: Media, start_sender: StartSender
) -> None:
    start_sender()
    for to in (channel, channel, a_channel(a.workspace, meta, external_id="4010001")):
        message = a_message(a_conversation(to), "A dot", type="image", media=picture)
        assert ended(message).status == "sent"

    first, again, other = sent_pictures(meta)
    assert first == again == {"id": MediaUpload.objects.get(channel_id=channel.pk).provider_id, "caption": "A dot"}
    assert other["id"] != first["id"]
    assert MediaUpload.objects.count() == 2


def test_a_file_that_the_provider_has_lost_is_uploaded_again(
    meta: RunningSandbox, channel: Channel, picture: Media, start_sender: StartSender
) -> None:
    MediaUpload.objects.create(channel_id=channel.pk, media_id=picture.pk, provider_id="4711", uploaded_at=now())
    message = a_message(a_conversation(channel), "", type="image", media=picture)

    start_sender()

    assert ended(message).status == "sent"
    [sent] = sent_pictures(meta)
    assert sent == {"id": MediaUpload.objects.get().provider_id} != {"id": "4711"}


def test_a_file_that_cannot_be_uploaded_goes_by_its_link(
    meta: RunningSandbox, channel: Channel, picture: Media, start_sender: StartSender
) -> None:
    Media.objects.filter(pk=picture.pk).update(storage_name="gone")
    message = a_message(a_conversation(channel), "", type="image", media=picture)

    start_sender()

    assert ended(message).status == "sent"
    assert sent_pictures(meta) == [{"link": picture.url}]
    assert not MediaUpload.objects.exists()


def test_a_file_that_cannot_be_read_to_its_end_goes_by_its_link_and_stops_nobody(
    meta: RunningSandbox, channel: Channel, picture: Media, start_sender: StartSender
) -> None:
    broken = Path(settings.MEDIA_DIRECTORY, picture.storage_name)
    broken.unlink()
    broken.symlink_to("/proc/self/mem")  # it opens, and every read of its beginning fails
    message = a_message(a_conversation(channel), "", type="image", media=picture)

    sender = start_sender()

    assert ended(message).status == "sent"
    assert sent_pictures(meta) == [{"link": picture.url}]
    assert sender.thread.is_alive()


def test_an_upload_that_was_refused_is_forgotten_whatever_becomes_of_its_message(
    meta: RunningSandbox, channel: Channel, picture: Media, start_sender: StartSender
) -> None:
    MediaUpload.objects.create(channel_id=channel.pk, media_id=picture.pk, provider_id="4711", uploaded_at=now())
    message = a_message(a_conversation(channel), "", type="image", media=picture)
    QueuedMessage.objects.filter(message=message).update(tries=1)

    start_sender()

    assert ended(message).error_code == "131009"
    until(lambda: not MediaUpload.objects.exists())


@pytest.mark.usefixtures("_long_waits")
def test_a_file_that_the_provider_calls_unusable_is_tried_anew_once(
    channel: Channel, picture: Media, start_sender: StartSender
) -> None:
    MediaUpload.objects.create(channel_id=channel.pk, media_id=picture.pk, provider_id="4711", uploaded_at=now())
    message = a_message(a_conversation(channel), "#100/33", type="image", media=picture)

    start_sender()

    put_off(message)
    until(lambda: not MediaUpload.objects.exists())
    make_due(message)
    assert ended(message).error_code == "100/33"


def test_one_numbers_slow_files_do_not_hold_up_anothers(
    a: Tenant, meta: RunningSandbox, channel: Channel, start_sender: StartSender
) -> None:
    slow = [
        a_message(a_conversation(channel), "", type="image", media=a_picture(a, f"{number}.png")) for number in range(6)
    ]
    other = a_channel(a.workspace, meta, external_id=NUMBERS[1])
    meta.play(faults=[{"call": "upload", "fault": "hang", "seconds": 1.5}])
    message = a_message(a_conversation(other), "", type="image", media=a_picture(a, "last.png"))

    start_sender()

    assert ended(message).status == "sent"
    assert [ended(one).status for one in slow] == ["sent"] * len(slow)
    gone_before = Message.objects.filter(pk__in=[one.pk for one in slow], sent_at__lt=message.sent_at).count()
    assert gone_before <= PER_CHANNEL


def test_a_message_whose_file_is_not_found_out_stays_for_the_next_run(
    channel: Channel, picture: Media, start_sender: StartSender
) -> None:
    message = a_message(a_conversation(channel), "", type="image", media=picture)
    with closing(open_connection("test")) as own, own.transaction():
        own.execute("LOCK TABLE media_media IN ACCESS EXCLUSIVE MODE")
        sender = start_sender()
        [pid] = wait_for_lock("relation")
        assert QueuedMessage.objects.get(message=message).run is None
        own.execute("SELECT pg_terminate_backend(%s)", [pid])
        sender.thread.join(60)
        assert not sender.thread.is_alive()

    start_sender()

    assert ended(message).status == "sent"


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_slow_uploads_leave_places_for_quick_ones() -> None:
    clock = Clock()
    turns = UploadQueue[str](clock)
    for channel in range(10):
        for number in range(3):
            turns.add(f"{channel}.{number}", channel=channel, size=10)
    assert turns.take_next() == ["0.0", "0.1", "1.0", "1.1"]
    clock.now += SLOW_SECONDS
    assert turns.mark_slow() == ["0.0", "0.1", "1.0", "1.1"]
    assert turns.take_next() == ["2.0", "2.1", "3.0", "3.1"]
    assert [turns.finish("0.0"), turns.finish("2.0")] == [True, False]
    assert turns.take_next() == ["4.0"]  # channel 0 is known to be slow, and has one out


def test_few_bytes_are_held_at_once_and_a_large_file_goes_alone() -> None:
    turns = UploadQueue[str]()
    for number, size in enumerate((MOST_BYTES // 2, MOST_BYTES // 2, MOST_BYTES * 2, 1)):
        turns.add(str(number), channel=number, size=size)
    assert turns.take_next() == ["0", "1"]
    turns.finish("0")
    assert turns.take_next() == ["3"]
    turns.finish("1")
    turns.finish("3")
    assert (turns.take_next(), len(turns)) == (["2"], 1)


def test_a_large_file_that_smaller_ones_pass_is_left_room() -> None:
    clock = Clock()
    turns = UploadQueue[str](clock)
    turns.add("small 0", channel=0, size=MOST_BYTES // 4)
    assert turns.take_next() == ["small 0"]
    turns.add("large", channel=1, size=MOST_BYTES * 7 // 8)
    for number in range(1, 4):
        turns.add(f"small {number}", channel=number + 1, size=MOST_BYTES // 4)
        clock.now += PASSED_SECONDS / 2
        assert turns.take_next() == ([f"small {number}"] if number < 3 else [])
        turns.finish(f"small {number - 1}")
    turns.add("tiny", channel=9, size=MOST_BYTES // 16)
    assert turns.take_next() == ["large", "tiny"]
    turns.finish("large")
    assert turns.take_next() == ["small 3"]


def test_a_file_that_goes_alone_goes_before_those_that_would_keep_it_waiting() -> None:
    clock = Clock()
    turns = UploadQueue[str](clock)
    turns.add("first", channel=0, size=10)
    assert turns.take_next() == ["first"]
    turns.add("later", channel=2, size=MOST_BYTES)
    turns.add("largest", channel=1, size=MOST_BYTES * 2)
    turns.add("second", channel=0, size=10)
    assert turns.take_next() == ["second"]
    clock.now += PASSED_SECONDS
    turns.finish("first")
    turns.add("third", channel=3, size=10)
    assert turns.take_next() == []
    turns.finish("second")
    assert turns.take_next() == ["later"]
    turns.finish("later")
    turns.add("fourth", channel=0, size=10)
    assert turns.take_next() == ["largest"]


def test_what_was_given_back_keeps_its_places_until_its_uploads_end(
    a: Tenant, meta: RunningSandbox, channel: Channel
) -> None:
    meta.play(faults=[{"call": "upload", "fault": "hang", "times": PER_CHANNEL, "seconds": 1}])
    pictures = [a_picture(a, f"{number}.png").pk for number in range(PER_CHANNEL + 1)]
    with closing(open_connection("test")) as own:
        [snapshot] = read_channels(own, [channel.pk])
    token = KnownChannels().token_of(snapshot)
    assert token
    uploads = MediaUploads(lambda: None)
    files, message = files_of(pictures), OutgoingMessage("", Recipient(), "image")

    def start(picture: int) -> None:
        row = ClaimedMessage("test", picture, 1, channel.pk, None, 0, now(), message._replace(file=files[picture]))
        uploads.start(row, files[picture], snapshot, token)

    for picture in pictures[:PER_CHANNEL]:
        start(picture)
    assert [one.row.id for one in uploads.drop()] == pictures[:PER_CHANNEL]
    assert uploads.drop() == []
    start(pictures[-1])
    running = list(uploads._futures.values())
    [done] = until(uploads.take_done, what="the last one")
    uploads.close()
    assert done.row.id == pictures[-1]
    assert len(running) == PER_CHANNEL
    assert any(one.done() for one in running), "it began before one of the others had ended"
