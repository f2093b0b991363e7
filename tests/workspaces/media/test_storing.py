"""Files come into the storage in pieces, and nothing is left of what went wrong."""

import hashlib
import io
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.timezone import now

from agency.actors import SYSTEM
from config.hooks import Registry
from tests.factories import WorkspaceFactory
from tests.workspaces.media.files import PDF, picture
from workspaces.media.models import Media, UnusedFile
from workspaces.media.services import (
    FileIsEmpty,
    FileTooLarge,
    MediaInUse,
    MediaUse,
    StorageUnavailable,
    add_media,
    files,
    open_media,
    remove_media,
    remove_next_unused_file,
    remove_unneeded_media,
    store_file,
    store_media,
)
from workspaces.subaccounts.models import Workspace

MIB = 1024 * 1024
pytestmark = pytest.mark.django_db


@pytest.fixture
def workspace() -> Workspace:
    return WorkspaceFactory.create()


def stored(
    workspace: Workspace, content: bytes = PDF, filename: str = "bill.pdf", source: Media.Source = Media.Source.RECEIVED
) -> Media:
    return store_media(workspace=workspace, file=io.BytesIO(content), filename=filename, source=source, now=now())


def large_picture(size: int) -> bytes:
    head = picture()
    return head + bytes(size - len(head))


def files_of(workspace: Workspace) -> list[Path]:
    folder = Path(settings.MEDIA_DIRECTORY, str(workspace.uuid))
    return sorted(folder.iterdir()) if folder.exists() else []


class Endless:
    """A stream of pictures' bytes that remembers how much of it was taken."""

    def __init__(self, head: bytes) -> None:
        self.head, self.taken = head, 0

    def read(self, size: int, /) -> bytes:
        piece = self.head + bytes(size - len(self.head)) if not self.taken else bytes(size)
        self.taken += size
        return piece


def test_a_file_is_kept_with_what_its_content_says(workspace: Workspace) -> None:
    media = stored(workspace, filename="../My bill.exe")

    assert (media.filename, media.content_type, media.size) == ("My bill.exe", "application/pdf", len(PDF))
    assert bytes(media.sha256) == hashlib.sha256(PDF).digest()
    assert media.source == "received"
    with open_media(media) as file:
        assert file.read() == PDF
    [path] = files_of(workspace)
    assert path.stat().st_mode & 0o777 == 0o600
    assert not UnusedFile.objects.exists()


def test_a_part_of_a_file_is_read_by_itself(workspace: Workspace) -> None:
    media = stored(workspace, b"0123456789", "digits.txt")

    with open_media(media, start=3, length=4) as file:
        assert (file.read(3), file.read(3), file.read(3)) == (b"345", b"6", b"")


def test_a_stream_without_end_is_taken_no_further_than_a_document_may_be(workspace: Workspace) -> None:
    endless = Endless(PDF)

    with pytest.raises(FileTooLarge, match="at most 100 MiB"):
        store_media(workspace=workspace, file=endless, filename="a.pdf", source=Media.Source.RECEIVED, now=now())

    assert endless.taken <= 101 * MIB
    assert not files_of(workspace)
    assert not UnusedFile.objects.exists()


@pytest.mark.parametrize(("more", "is_taken"), [(0, True), (1, False)])
def test_a_picture_may_be_as_large_as_providers_take_it(workspace: Workspace, more: int, is_taken: bool) -> None:
    content = large_picture(16 * MIB + more)

    if is_taken:
        assert stored(workspace, content, "a.png", Media.Source.UPLOADED).size == 16 * MIB
    else:
        with pytest.raises(FileTooLarge, match="at most 16 MiB"):
            stored(workspace, content, "a.png", Media.Source.UPLOADED)


def test_what_came_in_a_message_is_kept_as_large_as_providers_let_it_be(workspace: Workspace) -> None:
    media = stored(workspace, large_picture(16 * MIB + 1), "a.png")

    assert (media.content_type, media.size) == ("image/png", 16 * MIB + 1)


def test_nothing_is_no_file(workspace: Workspace) -> None:
    with pytest.raises(FileIsEmpty):
        stored(workspace, b"")


def test_what_was_stored_and_never_kept_is_removed_when_it_is_old(workspace: Workspace) -> None:
    store_file(workspace=workspace, file=io.BytesIO(PDF), filename="a.pdf", now=now() - timedelta(hours=1))

    assert not remove_next_unused_file()
    assert len(files_of(workspace)) == 1

    UnusedFile.objects.update(due_at=now() - timedelta(seconds=1))
    assert remove_next_unused_file()
    assert not files_of(workspace)
    assert not UnusedFile.objects.exists()


def test_what_was_removed_before_it_was_kept_is_not_kept(workspace: Workspace) -> None:
    late = store_file(workspace=workspace, file=io.BytesIO(PDF), filename="a.pdf", now=now() - timedelta(hours=3))
    assert remove_next_unused_file()

    with pytest.raises(Exception, match="took too long"):
        add_media(workspace=workspace, stored=late, now=now())
    assert not Media.objects.exists()


def test_a_removed_file_leaves_the_storage_after_its_row(workspace: Workspace) -> None:
    media = stored(workspace)

    remove_media(media=media, now=now(), by=SYSTEM)

    assert not Media.objects.exists()
    assert len(files_of(workspace)) == 1
    assert remove_next_unused_file()
    assert not files_of(workspace)
    assert not remove_next_unused_file()


def test_a_file_that_is_needed_stays(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    uses = Registry[MediaUse]("uses", called="by the test", transaction="none", failure="fails the test")
    uses.add(MediaUse("test", lambda _: "the broadcast “Summer”", lambda media: media))
    monkeypatch.setattr(files, "media_uses", uses)
    media = stored(workspace)

    with pytest.raises(MediaInUse, match="needed by the broadcast “Summer”"):
        remove_media(media=media, now=now(), by=SYSTEM)

    assert remove_unneeded_media(media=[media.pk], now=now()) == 0
    assert Media.objects.filter(pk=media.pk).exists()


@pytest.fixture
def locked() -> "Callable[[Path], None]":
    """Takes a folder's permissions, as a full or broken disk would; root is refused by a file in its place."""

    def lock(folder: Path) -> None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.write_bytes(b"")

    return lock


def test_a_storage_that_is_away_is_said_and_asked_again(workspace: Workspace, locked: "Callable[[Path], None]") -> None:
    folder = Path(settings.MEDIA_DIRECTORY, str(workspace.uuid))
    locked(folder)

    with pytest.raises(StorageUnavailable):
        stored(workspace)

    [left] = UnusedFile.objects.all()
    assert left.due_at > now() + timedelta(hours=1)
    UnusedFile.objects.update(due_at=now() - timedelta(seconds=1))
    assert remove_next_unused_file()
    [left] = UnusedFile.objects.all()
    assert left.tries == 1
    assert left.due_at > now() + timedelta(seconds=50)
    assert not remove_next_unused_file()
    os.unlink(folder)
    UnusedFile.objects.update(due_at=now() - timedelta(seconds=1))
    assert remove_next_unused_file()
    assert not UnusedFile.objects.exists()
