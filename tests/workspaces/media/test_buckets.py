"""Files in a bucket that speaks S3: private, in pieces, removed by the same rows."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests.factories import WorkspaceFactory, a_file
from tests.workspaces.media.buckets import Bucket, running_bucket
from tests.workspaces.media.files import PDF
from workspaces.media.models import UnusedFile
from workspaces.media.services import StorageAway, open_media, remove_media, remove_next_unused_file

# boto3 keeps connections open for its next call.
pytestmark = [pytest.mark.django_db, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture
def bucket(settings: Any) -> Iterator[Bucket]:
    with running_bucket() as running:
        options = {"endpoint_url": running.url, "region_name": "eu-central-1", "location": "media"}
        keys = {"bucket_name": "files", "access_key": "id", "secret_key": "secret"}
        storage = {"BACKEND": "workspaces.media.providers.buckets.BucketStorage", "OPTIONS": {**options, **keys}}
        settings.STORAGES = {**settings.STORAGES, "media": storage}
        yield running


def test_a_file_is_put_into_the_bucket_read_in_parts_and_removed(bucket: Bucket) -> None:
    media = a_file(WorkspaceFactory.create(), b"0123456789", "digits.txt")

    assert bucket.objects == {f"/files/media/{media.storage_name}": b"0123456789"}
    with open_media(media, start=2, length=3) as part:
        assert part.read() == b"234"
    answer = Client().get(media.url.removeprefix("http://testserver"))
    assert (answer["Content-Disposition"], b"".join(answer)) == ('attachment; filename="digits.txt"', b"0123456789")
    remove_media(media=media, now=now(), by=SYSTEM)
    assert remove_next_unused_file()
    assert bucket.objects == {}
    assert all(signed.startswith("AWS4-HMAC-SHA256 ") for _, _, signed in bucket.calls)


def test_a_large_file_goes_in_parts(bucket: Bucket) -> None:
    content = PDF + bytes(9 * 1024 * 1024)

    media = a_file(WorkspaceFactory.create(), content)

    assert len(bucket.parts) == 2
    assert bucket.objects[f"/files/media/{media.storage_name}"] == content


def test_a_bucket_that_is_away_is_said_and_leaves_a_row_to_go_by(bucket: Bucket) -> None:
    bucket.is_away = True

    with pytest.raises(StorageAway):
        a_file(WorkspaceFactory.create())

    assert UnusedFile.objects.count() == 1


def test_a_file_that_the_bucket_has_lost_is_not_found(bucket: Bucket) -> None:
    media = a_file(WorkspaceFactory.create())
    bucket.objects.clear()

    assert Client().get(media.url.removeprefix("http://testserver")).status_code == 404
