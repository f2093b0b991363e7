"""Files in a bucket that speaks S3: private, in pieces, removed by the same rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from django.conf import settings
from django.test import Client, override_settings
from django.utils.timezone import now

from agency.actors import SYSTEM
from tests.factories import WorkspaceFactory, a_file
from tests.workspaces.media.files import PDF
from workspaces.media.models import UnusedFile
from workspaces.media.services import StorageUnavailable, open_media, remove_media, remove_next_unused_file

XML = "<?xml version='1.0'?>"


@dataclass
class Bucket:
    """Its objects by their paths, what was asked of it, and whether it is away."""

    url: str = ""
    objects: dict[str, bytes] = field(default_factory=dict)
    parts: dict[int, bytes] = field(default_factory=dict)
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    is_away: bool = False


class Handler(BaseHTTPRequestHandler):
    bucket: Bucket

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), "ETag": '"tag"', **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def _handle(self) -> None:
        bucket, where = self.bucket, urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        name, asked = unquote(where.path), parse_qs(where.query, keep_blank_values=True)
        bucket.calls.append((self.command, name, self.headers.get("Authorization", "")))
        if bucket.is_away:
            return self._answer(503)
        if self.command == "PUT":
            return self._put(name, asked, body)
        if self.command == "POST":
            return self._post(name, asked)
        if self.command == "DELETE":
            bucket.objects.pop(name, None)
            return self._answer(204)
        return self._get(name)

    do_PUT = do_POST = do_GET = do_DELETE = _handle  # noqa: N815  # as http.server calls them

    def _put(self, name: str, asked: dict[str, list[str]], body: bytes) -> None:
        if "partNumber" in asked:
            self.bucket.parts[int(asked["partNumber"][0])] = body
        else:
            self.bucket.objects[name] = body
        self._answer(200)

    def _post(self, name: str, asked: dict[str, list[str]]) -> None:
        if "uploads" in asked:
            given = f"{XML}<InitiateMultipartUploadResult><UploadId>one</UploadId></InitiateMultipartUploadResult>"
        else:
            self.bucket.objects[name] = b"".join(part for _, part in sorted(self.bucket.parts.items()))
            given = f"{XML}<CompleteMultipartUploadResult><ETag>tag</ETag></CompleteMultipartUploadResult>"
        self._answer(200, given.encode())

    def _get(self, name: str) -> None:
        found = self.bucket.objects.get(name)
        if found is None:
            return self._answer(404, f"{XML}<Error><Code>NoSuchKey</Code></Error>".encode())
        first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
        return self._answer(206, found[int(first) : int(last) + 1])


@contextmanager
def running_bucket() -> Iterator[Bucket]:
    """Run a bucket until the block ends."""
    bucket = Bucket()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("OneBucket", (Handler,), {"bucket": bucket}))
    bucket.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield bucket
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# boto3 keeps connections open for its next call.
pytestmark = [pytest.mark.slow, pytest.mark.django_db, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture(scope="module")
def kept_bucket() -> Iterator[Bucket]:
    """One bucket for all tests, because a client of boto3 takes long to make."""
    with running_bucket() as running:
        options = {"endpoint_url": running.url, "region_name": "eu-central-1", "location": "media"}
        keys = {"bucket_name": "files", "access_key": "id", "secret_key": "secret"}
        storage = {"BACKEND": "workspaces.media.providers.buckets.BucketStorage", "OPTIONS": {**options, **keys}}
        with override_settings(STORAGES={**settings.STORAGES, "media": storage}):
            yield running


@pytest.fixture
def bucket(kept_bucket: Bucket) -> Bucket:
    """The bucket, empty and at hand."""
    for what in (kept_bucket.objects, kept_bucket.parts, kept_bucket.calls):
        what.clear()
    kept_bucket.is_away = False
    return kept_bucket


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

    with pytest.raises(StorageUnavailable):
        a_file(WorkspaceFactory.create())

    assert UnusedFile.objects.count() == 1


def test_a_file_that_the_bucket_has_lost_is_not_found(bucket: Bucket) -> None:
    media = a_file(WorkspaceFactory.create())
    bucket.objects.clear()

    assert Client().get(media.url.removeprefix("http://testserver")).status_code == 404
