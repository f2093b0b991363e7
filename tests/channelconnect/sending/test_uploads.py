"""Files that leave over WhatsApp are uploaded before their message, once for a number, and their id is used again."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils.timezone import now

from channelconnect.models import MediaUpload
from tests.channelconnect.sending.conftest import StartSender
from tests.channelconnect.sending.messages import a_channel, a_conversation, a_message, ended, make_due, put_off, until
from tests.tenants import Tenant
from tools.sandbox import RunningSandbox
from tools.sandbox.control.files import PNG
from workspaces.conversations.models import QueuedMessage
from workspaces.media.models import Media
from workspaces.media.services import store_media
from workspaces.subaccounts.models import Channel


@pytest.fixture
def picture(transactional_db: None, a: Tenant) -> Media:
    source = Media.Source.UPLOADED
    return store_media(workspace=a.workspace, file=io.BytesIO(PNG), filename="dot.png", source=source, now=now())


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
