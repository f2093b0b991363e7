"""How far two pictures of a page are apart, in what a person would notice."""

from io import BytesIO
from typing import Final

from PIL import Image, ImageChops

# Letters are drawn a little differently by each version of a browser: squares of pixels are compared by their means.
SQUARE: Final = 8
# Of 255, in any colour; the line around a field is some 20 away from the ground, averaged over a square.
NOTICED: Final = 12
COLOURS: Final = 64


def difference(kept: bytes, taken: bytes) -> float:
    """Give how far apart two PNGs are. The taken one is compared as it would be kept, in few colours."""
    return share_of_squares(_read(kept), _in_few_colours(taken).convert("RGB"))


def share_of_squares(one: Image.Image, other: Image.Image) -> float:
    """Give the share of squares that look different, from 0 to 1; pictures of other sizes are compared from the top."""
    if one.width != other.width:
        return 1.0
    height = max(one.height, other.height)
    squares = [_squares(picture, height) for picture in (one, other)]
    channels = ImageChops.difference(*squares).split()
    changed = ImageChops.lighter(ImageChops.lighter(channels[0], channels[1]), channels[2])
    counts = changed.histogram()
    return sum(counts[NOTICED:]) / sum(counts)


def smaller(png: bytes) -> bytes:
    """The same picture in few colours, as it is kept."""
    written = BytesIO()
    _in_few_colours(png).save(written, "PNG", optimize=True)
    return written.getvalue()


def _in_few_colours(png: bytes) -> Image.Image:
    return _read(png).quantize(COLOURS, dither=Image.Dither.NONE)


def _read(png: bytes) -> Image.Image:
    with Image.open(BytesIO(png), formats=["PNG"]) as opened:
        return opened.convert("RGB")


def _squares(picture: Image.Image, height: int) -> Image.Image:
    """On a page of this height, shrunk to one pixel for each square."""
    page = Image.new("RGB", (picture.width, height), "magenta")
    page.paste(picture, (0, 0))
    return page.resize((picture.width // SQUARE, -(-height // SQUARE)), Image.Resampling.BOX)
