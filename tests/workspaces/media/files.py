"""Small files of each kind, as their programs write them."""

import io
import zipfile

from PIL import Image


def picture(kind: str = "PNG", size: tuple[int, int] = (3, 2)) -> bytes:
    written = io.BytesIO()
    Image.new("RGB", size, "#336699").save(written, kind)
    return written.getvalue()


def archive(*names: str, first: tuple[str, bytes] | None = None) -> bytes:
    """A ZIP file with these parts; `first` is one that stands uncompressed at its beginning."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as packed:
        if first:
            packed.writestr(zipfile.ZipInfo(first[0]), first[1])
        for name in names:
            packed.writestr(name, b"<x/>")
    return written.getvalue()


PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n%%EOF\n"
ZEROS = b"\0" * 64
VOICE = b"OggS\0\2" + b"\0" * 20 + b"\x01\x13OpusHead\x01" + ZEROS
FILM = b"\0\0\0\x20ftypisom\0\0\2\0isomiso2avc1mp41" + ZEROS
