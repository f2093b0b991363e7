"""Draws uploaded pictures anew; as a program of its own it does so in bounded time and memory.

A decoder may need hours for a small file, or break. Pictures of others are therefore decoded in a process that has no
settings, no connections and no more memory than a picture needs, and that ends after some seconds of work. As a program
this file imports nothing of the product.
"""

import resource
import struct
import sys
from collections.abc import Callable
from io import BytesIO
from typing import Final

from PIL import Image, ImageOps

FORMATS: Final = ("PNG", "JPEG", "WEBP")
MOST_PIXELS: Final = 3_000 * 3_000
LEAST_SIDE: Final = 16
# Twice what pages show, for screens with two dots per pixel.
WIDEST, HIGHEST = 480, 160
# The size of a page's icon that browsers and phones ask for.
ICON_SIDE: Final = 192
# The length that the program writes before each drawn picture.
LENGTH: Final = struct.Struct(">I")
UNREADABLE: Final = (OSError, SyntaxError, ValueError, EOFError)

MOST_MEMORY: Final = 512 * 1024 * 1024
# The exit codes with which the program refuses a picture; any other code is an unforeseen failure.
EXIT_MESSAGES: Final = {
    3: "The file must be a PNG, JPEG or WebP picture.",
    4: "The picture has more than 9 million pixels.",
    5: "The picture must be at least 16 pixels wide and high.",
}


class PictureRejected(Exception):
    """The picture is refused; `code` is a key of `EXIT_MESSAGES`."""

    def __init__(self, code: int) -> None:
        super().__init__(EXIT_MESSAGES[code])
        self.code = code


def read_picture(data: bytes) -> Image.Image:
    """Decode a picture. Raises `PictureRejected`."""
    try:
        with Image.open(BytesIO(data), formats=FORMATS) as read:
            _check_size(*read.size)
            return ImageOps.exif_transpose(read).convert("RGBA")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise PictureRejected(4) from error
    except UNREADABLE as error:
        raise PictureRejected(3) from error


def logo_of(read: Image.Image) -> bytes:
    """Draw a picture in at most 480 x 160 pixels."""
    # Transparent margins would only push the logo away from the agency's name.
    drawn = read.crop(read.getchannel("A").getbbox())
    drawn.thumbnail((WIDEST, HIGHEST), Image.Resampling.LANCZOS)
    return _written(drawn)


def icon_of(read: Image.Image) -> bytes:
    """Draw a picture in the middle of a square of 192 pixels."""
    drawn = read.crop(read.getchannel("A").getbbox())
    drawn.thumbnail((ICON_SIDE, ICON_SIDE), Image.Resampling.LANCZOS)
    return _written(ImageOps.pad(drawn, (ICON_SIDE, ICON_SIDE), Image.Resampling.LANCZOS, color=(0, 0, 0, 0)))


DRAWERS: Final[dict[str, Callable[[Image.Image], bytes]]] = {"logo": logo_of, "icon": icon_of}


def _written(drawn: Image.Image) -> bytes:
    written = BytesIO()
    drawn.save(written, "PNG", optimize=True)
    return written.getvalue()


def _check_size(width: int, height: int) -> None:
    if width * height > MOST_PIXELS:
        raise PictureRejected(4)
    if min(width, height) < LEAST_SIDE:
        raise PictureRejected(5)


def main() -> int:
    """Read a picture and write what is drawn from it; return an exit code that says why there is nothing.

    The arguments are the seconds of work that the program may take, then what to draw. Each PNG is written after its
    length.
    """
    seconds, *works = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    try:
        read = read_picture(sys.stdin.buffer.read())
    except PictureRejected as refused:
        return refused.code
    for drawn in [DRAWERS[work](read) for work in works]:
        sys.stdout.buffer.write(LENGTH.pack(len(drawn)) + drawn)
    return 0


if __name__ == "__main__":
    sys.exit(main())
