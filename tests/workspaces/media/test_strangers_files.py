"""What a stranger's file may cost: a bounded number of small reads, however many parts the file says that it has."""

import io
import struct
import tracemalloc
import zlib
from typing import Any

import pytest
from PIL import Image

from tests.tenants import Multipart, Tenant, message
from tests.workspaces.media.files import picture
from workspaces.media.services.content_types import content_type_of

MIB = 1024 * 1024
UNKNOWN = "application/octet-stream"
MOST_READS, MOST_BYTES_READ, MOST_ALLOCATED = 300, MIB, 4 * MIB
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
DIRECTORY_END = b"PK\x05\x06"


class Counted(io.BytesIO):
    """A file that counts what is read of it."""

    reads = taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        piece = super().read(size)
        self.reads += 1
        self.taken += len(piece)
        return piece


def chunk(kind: bytes, content: bytes = b"") -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png_head(width: int, height: int) -> bytes:
    return PNG_SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))


def jpeg_of_segments(number: int) -> bytes:
    return b"\xff\xd8" + b"\xff\xe5\x00\x02" * number


def gif_of_comments(number: int) -> bytes:
    return b"GIF89a" + struct.pack("<HHBBB", 3, 2, 0, 0, 0) + b"!\xfe\x01a\x00" * number


def webp_of_parts(number: int) -> bytes:
    parts = b"VP8X" + struct.pack("<I", 10) + bytes(4) + b"\x02\0\0\x01\0\0" + (b"EXIF" + bytes(4)) * number
    return b"RIFF" + struct.pack("<I", len(parts) + 4) + b"WEBP" + parts


def archive_with_two_ends(entries: int) -> bytes:
    """A directory of so many parts, whose size stands in an end that another, false one hides."""
    entry = b"PK\x01\x02" + bytes(42)
    size = len(entry) * entries
    end = DIRECTORY_END + bytes(4) + DIRECTORY_END + struct.pack("<IIH", size, 0, 0)
    return b"PK\x03\x04" + bytes(26) + entry * entries + end


DEAR = {
    "a JPEG of 150,000 segments": jpeg_of_segments(150_000),
    "a PNG of 700,000 empty chunks": png_head(3, 2) + chunk(b"teXt") * 700_000,
    "a GIF of a million comments": gif_of_comments(1_000_000),
    "a WebP of a million parts": webp_of_parts(1_000_000),
    "an archive with two ends": archive_with_two_ends(100_000),
    "fill bytes": b"\xff\xd8" + b"\xff" * MIB,
}


@pytest.mark.parametrize("name", DEAR)
def test_a_stranger_s_file_is_told_by_a_bounded_number_of_reads(name: str) -> None:
    file = Counted(DEAR[name])

    tracemalloc.start()
    try:
        content_type_of(file, "photo.jpg")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert (file.reads <= MOST_READS, file.taken <= MOST_BYTES_READ, peak <= MOST_ALLOCATED) == (True, True, True), (
        file.reads,
        file.taken,
        peak,
    )


HUGE = [
    png_head(65_535, 65_535),
    b"\xff\xd8\xff\xc0\x00\x11\x08\xff\xff\xff\xff\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01",
    b"GIF89a" + struct.pack("<HHBBB", 65_535, 65_535, 0, 0, 0),
    b"RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0" + bytes(4) + b"\xff\xff\xff\xff\xff\xff",
    b"RIFF\x16\0\0\0WEBPVP8L\x0a\0\0\0\x2f\xff\xff\xff\x0f\x00",
]
NOTHING = [png_head(0, 2), b"GIF89a" + bytes(7), b"\xff\xd8\xff\xd9", picture("JPEG")[:100], b"RIFF\x04\0\0\0WEBP"]


@pytest.mark.parametrize("content", [*HUGE, *NOTHING])
def test_a_picture_that_no_browser_should_draw_has_no_type_of_its_own(content: bytes) -> None:
    assert content_type_of(io.BytesIO(content + bytes(64)), "photo.png") == UNKNOWN


def of_kind(kind: str, mode: str = "RGB", **options: Any) -> bytes:
    written = io.BytesIO()
    Image.new(mode, (40, 30)).save(written, kind, **options)
    return written.getvalue()


def with_segments(content: bytes, number: int, length: int = 65_535) -> bytes:
    """A JPEG that carries so many of the large segments in which programs keep colours and previews."""
    return content[:2] + (b"\xff\xe2" + struct.pack(">H", length) + bytes(length - 2)) * number + content[2:]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (of_kind("JPEG", progressive=True), "image/jpeg"),
        (of_kind("JPEG", "L"), "image/jpeg"),
        (of_kind("JPEG", "CMYK"), "image/jpeg"),
        (with_segments(of_kind("JPEG"), 60), "image/jpeg"),
        (with_segments(of_kind("JPEG"), 1)[:2] + b"\xff\xff" + with_segments(of_kind("JPEG"), 1)[2:], "image/jpeg"),
        (of_kind("WEBP", lossless=True), "image/webp"),
        (of_kind("WEBP", "RGBA", lossless=False), "image/webp"),
        (of_kind("WEBP", exif=b"Exif\0\0MM\0*\0\0\0\x08\0\0"), "image/webp"),
        (of_kind("PNG", "P"), "image/png"),
        (of_kind("GIF", "P"), "image/gif"),
        (of_kind("MPO", save_all=True, append_images=[Image.new("RGB", (40, 30))]), "image/jpeg"),
    ],
)
def test_pictures_of_the_usual_programs_are_known(content: bytes, expected: str) -> None:
    assert content_type_of(io.BytesIO(content), "photo") == expected


FRAME = b"\xff\xc0\x00\x11\x08\x00\x1e\x00\x28\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("content", "status"),
    [(jpeg_of_segments(5 * MIB), 201), (b"\xff\xd8" + FRAME + jpeg_of_segments(5 * MIB)[2:], 413)],
    ids=["no picture at all", "a picture that is too large"],
)
def test_an_upload_of_five_million_segments_takes_no_memory_for_them(a: Tenant, content: bytes, status: int) -> None:
    body = Multipart.of(content, "photo.jpg")
    a.workspace_api.get("/media")  # whatever is made once

    tracemalloc.start()
    try:
        answer = a.workspace_api.post("/media", body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert answer.status_code == status
    if status == 201:
        assert answer.json()["data"]["content_type"] == UNKNOWN
    else:
        assert message(answer) == "A file of this type may have at most 16 MiB."
    assert peak < 4 * len(body)
