"""Files that came with messages are fetched from the provider, checked, and kept as the workspace's."""

import hashlib
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils.timezone import now

from channelconnect.services.fetching import BATCH, MOST_TRIES, WAITS, fetch_next
from tests.channelconnect.sending.messages import a_channel, a_conversation
from tests.tenants import Tenant
from tests.waiting import until
from tools.sandbox import RunningSandbox
from tools.sandbox.control.files import PNG
from workspaces.conversations.models import MediaFetch, Message
from workspaces.media.models import Media, UnusedFile
from workspaces.subaccounts.models import Channel

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def number(transactional_db: None, a: Tenant, meta: RunningSandbox) -> Channel:
    return a_channel(a.workspace, meta)


def a_file(channel: Channel, reference: str, **fields: Any) -> MediaFetch:
    """A picture that somebody sent, still to be fetched."""
    conversation = a_conversation(channel)
    message = Message.objects.create(
        workspace_id=channel.workspace_id,
        channel_id=channel.pk,
        conversation=conversation,
        direction="in",
        status="received",
        type="image",
        provider_time=now(),
    )
    return MediaFetch.objects.create(message=message, channel_id=channel.pk, reference=reference, **fields)


def at_the_provider(meta: RunningSandbox, **given: Any) -> str:
    found: str = meta.control("POST", "file", given)["id"]
    return found


def fetched(fetch: MediaFetch) -> MediaFetch:
    assert fetch_next(now=now()) == 1
    fetch.refresh_from_db()
    return fetch


def test_a_file_is_looked_up_fetched_and_kept(meta: RunningSandbox, number: Channel) -> None:
    sha256 = b64encode(hashlib.sha256(PNG).digest()).decode()
    fetch = fetched(a_file(number, at_the_provider(meta), sha256=sha256, filename="dot.png"))

    assert (fetch.status, fetch.fault) == ("ready", "")
    media = Message.objects.select_related("media").get(pk=fetch.pk).media
    assert media is not None
    assert (media.content_type, media.filename, media.source) == ("image/png", "dot.png", "received")
    assert bytes(media.sha256) == hashlib.sha256(PNG).digest()
    assert media.workspace_id == number.workspace_id
    assert fetch_next(now=now()) == 0


def test_a_file_is_kept_as_large_as_its_sender_s_network_takes_it(meta: RunningSandbox, number: Channel) -> None:
    """A picture that nobody could upload here."""
    fetch = fetched(a_file(number, at_the_provider(meta, size=17 << 20)))

    assert (fetch.status, fetch.fault) == ("ready", "")
    media = Message.objects.select_related("media").get(pk=fetch.pk).media
    assert media is not None
    assert (media.content_type, media.size) == ("image/png", 17 << 20)


@pytest.mark.parametrize(
    ("given", "status", "fault"),
    [
        ({"fault": "wrong-sha256"}, "pending", "wrong_checksum"),
        ({"fault": "expired"}, "pending", "http_4xx"),
        ({"fault": "gone"}, "expired", "provider_request_failed"),
        ({"fault": "redirect"}, "failed", "http_3xx"),
        ({"size": 101 << 20}, "failed", "too_large"),
    ],
)
def test_what_cannot_be_had_stays_as_a_row_that_says_so(
    meta: RunningSandbox, number: Channel, given: dict[str, Any], status: str, fault: str
) -> None:
    fetch = fetched(a_file(number, at_the_provider(meta, **given)))

    assert (fetch.status, fetch.fault, fetch.tries) == (status, fault, 1)
    assert Message.objects.get(pk=fetch.pk).media is None
    if status == "pending":
        assert 0 < (fetch.due_at - now()).total_seconds() <= 5


def test_the_type_is_told_by_the_content(meta: RunningSandbox, number: Channel) -> None:
    page = b64encode(b"<html><script>alert(1)</script></html>").decode()
    fetch = fetched(a_file(number, at_the_provider(meta, content=page, content_type="image/png")))

    media = Message.objects.select_related("media").get(pk=fetch.pk).media
    assert media is not None
    assert media.content_type == "application/octet-stream"


def test_only_meta_s_hosts_are_asked(a: Tenant, meta: RunningSandbox) -> None:
    page = a_channel(a.workspace, meta, platform="facebook")
    for url in (
        "https://example.com/a.png",
        "http://scontent.fbcdn.net/a.png",
        "https://evilfbcdn.net/a.png",
        "https://127.0.0.1/a.png",
        "https://scontent.fbcdn.net@127.0.0.1/a.png",
        "file:///etc/passwd",
    ):
        fetch = fetched(a_file(page, url))
        assert (url, fetch.status, fetch.fault) == (url, "failed", "foreign_host")


def test_a_picture_of_messenger_is_fetched_by_its_address(a: Tenant, meta: RunningSandbox) -> None:
    file = at_the_provider(meta)
    fetch = fetched(a_file(a_channel(a.workspace, meta, platform="facebook"), f"{meta.url}/media-files/{file}/cdn"))
    assert (fetch.status, fetch.fault) == ("ready", "")


def test_a_file_is_given_up_after_tries_of_seven_days_however_old_its_message_is(
    meta: RunningSandbox, number: Channel
) -> None:
    fetch = a_file(number, at_the_provider(meta, fault="expired"))
    Message.objects.filter(pk=fetch.pk).update(created_at=now() - timedelta(days=100))
    assert fetched(fetch).status == "pending", "a message of the chat history"
    assert sum(WAITS[min(number, len(WAITS) - 1)].total_seconds() for number in range(MOST_TRIES)) > 7 * 86_400
    MediaFetch.objects.update(tries=MOST_TRIES, due_at=now())
    assert fetched(fetch).status == "expired"


def test_new_files_do_not_wait_for_those_of_a_whole_history(meta: RunningSandbox, number: Channel) -> None:
    file = at_the_provider(meta)
    history = [a_file(number, file, due_at=now() - timedelta(hours=1)) for _ in range(2 * BATCH)]
    new = a_file(number, file)
    assert fetch_next(now=now()) == BATCH
    new.refresh_from_db()
    assert new.status == "ready"
    history[0].refresh_from_db()
    assert history[0].status == "ready", "the oldest go on, too"


def fetched_in_a_thread() -> int:
    try:
        return fetch_next(now=now())
    finally:
        connections.close_all()


def test_a_file_whose_message_is_taken_back_meanwhile_is_not_kept(meta: RunningSandbox, number: Channel) -> None:
    fetch = a_file(number, at_the_provider(meta, fault="slow"))
    with ThreadPoolExecutor(1) as pool:
        fetching = pool.submit(fetched_in_a_thread)
        until(lambda: meta.ledger()["fetches"])
        Message.objects.filter(pk=fetch.pk).update(removed_at=now())
        MediaFetch.objects.all().delete()
        assert fetching.result() == 1

    assert not Media.objects.exists()
    [left] = UnusedFile.objects.all()
    assert left.storage_name.startswith(str(number.workspace.uuid))


def test_a_slow_file_delays_no_other(meta: RunningSandbox, number: Channel) -> None:
    slow = a_file(number, at_the_provider(meta, fault="slow"))
    quick = [a_file(number, at_the_provider(meta)) for _ in range(5)]

    assert fetch_next(now=now()) == 6

    assert set(MediaFetch.objects.values_list("status", flat=True)) == {"ready"}
    kept = {message.pk: message.media for message in Message.objects.select_related("media")}
    last = kept[slow.pk]
    assert last is not None
    assert all((media := kept[one.pk]) is not None and media.created_at < last.created_at for one in quick)
