"""An uploaded picture becomes a small PNG of our own making: nothing of the file itself is passed on."""

from io import BytesIO
from typing import NamedTuple

from PIL import Image, ImageOps

MOST_BYTES = 1024 * 1024
FORMATS = ("PNG", "JPEG", "WEBP")
MOST_PIXELS = 3_000 * 3_000
LEAST_SIDE = 16
TOO_LARGE = "The file is larger than 1 MiB."
# Twice what pages show, for screens with two dots a pixel.
WIDEST, HIGHEST = 480, 160
TOO_MANY = "The picture has more than 9 million pixels."
UNREADABLE = (OSError, SyntaxError, ValueError, EOFError)


class Picture(NamedTuple):
    """`png` with its size in pixels."""

    png: bytes
    width: int
    height: int


class NoPicture(ValueError):
    """The bytes are not a picture that is taken; the message says why, for a person."""


def shrink(data: bytes) -> Picture:
    """Read a PNG, JPEG or WebP file and draw it anew in at most 480 x 160 pixels. Raises `NoPicture`."""
    if len(data) > MOST_BYTES:
        raise NoPicture(TOO_LARGE)
    try:
        with Image.open(BytesIO(data), formats=FORMATS) as read:
            _check_size(*read.size)
            drawn = ImageOps.exif_transpose(read).convert("RGBA")
    except NoPicture:
        raise
    except Image.DecompressionBombError as error:
        raise NoPicture(TOO_MANY) from error
    except UNREADABLE as error:
        raise NoPicture("The file must be a PNG, JPEG or WebP picture.") from error
    # Transparent margins would only push the logo away from the agency's name.
    drawn = drawn.crop(drawn.getchannel("A").getbbox())
    drawn.thumbnail((WIDEST, HIGHEST), Image.Resampling.LANCZOS)
    written = BytesIO()
    drawn.save(written, "PNG", optimize=True)
    return Picture(written.getvalue(), *drawn.size)


def _check_size(width: int, height: int) -> None:
    if width * height > MOST_PIXELS:
        raise NoPicture(TOO_MANY)
    if min(width, height) < LEAST_SIDE:
        raise NoPicture("The picture must be at least 16 pixels wide and high.")
