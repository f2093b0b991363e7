"""Makes a small PNG of our own from an uploaded picture, so that nothing of the file itself is passed on."""

import logging
import struct
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from threading import BoundedSemaphore
from typing import Final, Literal, NamedTuple, cast

from PIL import Image

from agency.services import drawing

logger = logging.getLogger(__name__)

MOST_BYTES = 1024 * 1024
TOO_LARGE = "The file is larger than 1 MiB."
TOO_MUCH_WORK: Final = "The picture takes too much work to draw. Save it anew."
MOST_CPU_SECONDS: Final = 5
# By the wall clock, for a machine so busy that the limit of work is not reached.
LONGEST_SECONDS: Final = 20.0
AT_ONCE: Final = BoundedSemaphore(2)
# A colour that a logo suggests covers at least this share of it, and is neither black nor white nor grey.
LEAST_SHARE: Final = 0.02
LEAST_SATURATION: Final = 60
MOST_COLOURS: Final = 12
HALF: Final = 127
Colour = tuple[int, int, int]
# The names that `drawing.py` has for what it draws.
Work = Literal["logo", "icon"]


class DrawnPicture(NamedTuple):
    """A PNG with its size in pixels."""

    png: bytes
    width: int
    height: int


class NoPicture(ValueError):
    """The bytes are no picture that is accepted; the message says why, for a person."""


def draw(data: bytes, *works: Work) -> list[DrawnPicture]:
    """Read a PNG, JPEG or WebP file and draw it anew: as a logo, as an icon, or both. Raises `NoPicture`.

    A separate process does it, which knows nothing of the product and ends by itself.
    """
    if len(data) > MOST_BYTES:
        raise NoPicture(TOO_LARGE)
    program = [sys.executable, "-I", drawing.__file__, str(MOST_CPU_SECONDS), *works]
    with AT_ONCE:
        try:
            done = subprocess.run(program, input=data, capture_output=True, env={}, timeout=LONGEST_SECONDS)  # noqa: S603  # ours
        except subprocess.TimeoutExpired:
            raise NoPicture(TOO_MUCH_WORK) from None
    if done.returncode in drawing.REFUSALS:
        raise NoPicture(drawing.REFUSALS[done.returncode])
    if done.returncode:
        logger.warning("a picture was not drawn", extra={"exit": done.returncode})
        raise NoPicture(TOO_MUCH_WORK)
    return [_measured(png) for png in _parts(done.stdout)]


def icon_of_own(png: bytes) -> DrawnPicture:
    """Draw the icon of a picture that we have made."""
    return _measured(drawing.icon_of(drawing.read_picture(png)))


def main_colours(png: bytes, *, most: int) -> list[str]:
    """Return the main colours (`#rrggbb`) of a picture that we have made, the commonest first."""
    with Image.open(BytesIO(png), formats=["PNG"]) as read:
        drawn = read.convert("RGBA")
    pixels = cast("tuple[tuple[int, int, int, int], ...]", drawn.resize((64, 64)).get_flattened_data())
    opaque = [pixel[:3] for pixel in pixels if pixel[3] > HALF]
    if not opaque:
        return []
    row = Image.new("RGB", (len(opaque), 1))
    row.putdata(opaque)
    few = row.quantize(MOST_COLOURS, Image.Quantize.MEDIANCUT).convert("RGB")
    counted = sorted(cast("list[tuple[int, Colour]]", few.getcolors(len(opaque))), reverse=True)
    wide = [colour for count, colour in counted if count >= LEAST_SHARE * len(opaque)]
    strong = [colour for colour in wide if max(colour) - min(colour) >= LEAST_SATURATION]
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in strong[:most]]


def _parts(written: bytes) -> Iterator[bytes]:
    """Yield the pictures that the program wrote, each after its length."""
    while written:
        (length,) = drawing.LENGTH.unpack_from(written)
        rest = written[drawing.LENGTH.size :]
        yield rest[:length]
        written = rest[length:]


def _measured(png: bytes) -> DrawnPicture:
    """Return a PNG that we have made, with the size that its header says."""
    width, height = struct.unpack_from(">II", png, 16)
    return DrawnPicture(png, width, height)
