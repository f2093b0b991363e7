"""Files by their addresses: for whoever has one, never run by a browser, whole or in parts."""

import pytest
from django.test import Client

from tests.factories import WorkspaceFactory, a_file
from tests.workspaces.media.files import FILM, PDF, picture
from workspaces.media.models import Media
from workspaces.subaccounts.models import Workspace

pytestmark = pytest.mark.django_db
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
PAGE = b"<!doctype html><script>alert(1)</script>"


@pytest.fixture
def workspace() -> Workspace:
    return WorkspaceFactory.create()


def path_of(media: Media) -> str:
    return media.url.removeprefix("http://testserver")


@pytest.mark.parametrize(
    ("filename", "content", "kind", "disposition"),
    [
        ("photo.png", picture(), "image/png", 'inline; filename="photo.png"'),
        ("film.mp4", FILM, "video/mp4", 'inline; filename="film.mp4"'),
        ("bill.pdf", PDF, "application/pdf", 'attachment; filename="bill.pdf"'),
        ("photo.svg", SVG, "application/octet-stream", 'attachment; filename="photo.svg"'),
        ("page.png", PAGE, "application/octet-stream", 'attachment; filename="page.png"'),
        ("a;b c.txt", b"some text", "text/plain", 'attachment; filename="a;b c.txt"'),
        ("Grüße.txt", b"some text", "text/plain", "attachment; filename*=utf-8''Gr%C3%BC%C3%9Fe.txt"),
    ],
)
def test_only_pictures_sounds_and_films_are_opened_in_place(
    workspace: Workspace, filename: str, content: bytes, kind: str, disposition: str
) -> None:
    answer = Client().get(path_of(a_file(workspace, content, filename)))

    assert answer.status_code == 200
    assert b"".join(answer) == content
    assert answer["Content-Type"] == kind
    assert answer["Content-Disposition"] == disposition
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer["Content-Security-Policy"]
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert answer["Cache-Control"] == "private, max-age=3600"
    assert answer["Content-Length"] == str(len(content))
    assert not answer.cookies


def test_an_address_is_long_and_random_and_every_other_one_is_unknown(workspace: Workspace) -> None:
    first, second = a_file(workspace), a_file(workspace)

    assert len(first.token) == 43
    assert first.token != second.token
    for other in (
        f"/media/{first.token[:-1]}/bill.pdf",
        f"/media/{first.token[:-1]}!/bill.pdf",
        f"/media/{first.token}/other.pdf",
        f"/media/{first.uuid}/bill.pdf",
        f"/media/{first.storage_name.partition('/')[2]}/bill.pdf",
        f"/media/{first.token}",
        f"/media/{first.token}/%00",
        "/media/%00/bill.pdf",
        "/media/\u00fc/bill.pdf",
    ):
        assert Client().get(other).status_code == 404, other


@pytest.mark.parametrize(
    ("asked", "status", "start", "end"),
    [
        ("bytes=0-3", 206, 0, 3),
        ("bytes=4-", 206, 4, 9),
        ("bytes=-3", 206, 7, 9),
        ("bytes=-99", 206, 0, 9),
        ("bytes=8-99", 206, 8, 9),
        ("bytes=10-", 416, 0, 0),
        ("bytes=99-100", 416, 0, 0),
        ("bytes=-0", 416, 0, 0),
        ("bytes=5-2", 200, 0, 9),
        ("bytes=-", 200, 0, 9),
        ("bytes=0-1,4-5", 200, 0, 9),
        ("lines=0-1", 200, 0, 9),
        ("bytes=a-b", 200, 0, 9),
    ],
)
def test_a_part_of_a_file_is_given_by_itself(
    workspace: Workspace, asked: str, status: int, start: int, end: int
) -> None:
    content = b"0123456789"
    answer = Client().get(path_of(a_file(workspace, content, "digits.txt")), headers={"Range": asked})

    assert answer.status_code == status
    if status == 416:
        assert answer["Content-Range"] == "bytes */10"
        return
    assert b"".join(answer) == content[start : end + 1]
    assert answer["Content-Length"] == str(end - start + 1)
    assert answer.get("Content-Range") == (f"bytes {start}-{end}/10" if status == 206 else None)


def test_a_part_of_another_file_than_the_one_begun_is_the_whole(workspace: Workspace) -> None:
    media = a_file(workspace, b"0123456789", "digits.txt")
    etag = Client().head(path_of(media))["ETag"]

    same = Client().get(path_of(media), headers={"Range": "bytes=1-2", "If-Range": etag})
    other = Client().get(path_of(media), headers={"Range": "bytes=1-2", "If-Range": '"other"'})

    assert (same.status_code, b"".join(same)) == (206, b"12")
    assert (other.status_code, b"".join(other)) == (200, b"0123456789")


def test_what_is_known_already_is_not_sent_again(workspace: Workspace) -> None:
    path = path_of(a_file(workspace))
    head = Client().head(path)

    assert (head.status_code, head.content) == (200, b"")
    assert head["Content-Length"] == "9"
    assert Client().get(path, headers={"If-None-Match": head["ETag"]}).status_code == 304


def test_a_file_is_only_read(workspace: Workspace) -> None:
    for method in ("post", "put", "delete", "patch"):
        assert getattr(Client(), method)(path_of(a_file(workspace))).status_code == 405
