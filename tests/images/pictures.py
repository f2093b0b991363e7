"""Pictures as people upload them."""

from io import BytesIO
from typing import Any

from PIL import Image


def a_picture(width: int = 300, height: int = 100, kind: str = "PNG", mode: str = "RGB", **options: Any) -> bytes:
    """A red file of this size."""
    written = BytesIO()
    Image.new(mode, (width, height), "red").save(written, kind, **options)
    return written.getvalue()


def size_of(png: bytes) -> tuple[int, int]:
    with Image.open(BytesIO(png), formats=["PNG"]) as read:
        return read.size
