"""An uploaded picture becomes a small PNG of our own making: nothing of the file itself is passed on."""

from io import BytesIO
from typing import Final, NamedTuple, cast

from PIL import Image, ImageOps

MOST_BYTES = 1024 * 1024
FORMATS = ("PNG", "JPEG", "WEBP")
MOST_PIXELS = 3_000 * 3_000
LEAST_SIDE = 16
TOO_LARGE = "The file is larger than 1 MiB."
# Twice what pages show, for screens with two dots a pixel.
WIDEST, HIGHEST = 480, 160
# What browsers and phones ask of a page's icon.
ICON_SIDE: Final = 192
TOO_MANY = "The picture has more than 9 million pixels."
UNREADABLE = (OSError, SyntaxError, ValueError, EOFError)
# A colour that a logo may lend to its agency covers so much of it, and is neither black nor white nor grey.
LEAST_SHARE: Final = 0.02
LEAST_SATURATION: Final = 60
MOST_COLOURS: Final = 12
HALF: Final = 127
Colour = tuple[int, int, int]


class DrawnPicture(NamedTuple):
    """`png` with its size in pixels."""

    png: bytes
    width: int
    height: int


class NoPicture(ValueError):
    """The bytes are not a picture that is taken; the message says why, for a person."""


def shrink(data: bytes) -> DrawnPicture:
    """Read a PNG, JPEG or WebP file and draw it anew in at most 480 x 160 pixels. Raises `NoPicture`."""
    drawn = _read(data)
    # Transparent margins would only push the logo away from the agency's name.
    drawn = drawn.crop(drawn.getchannel("A").getbbox())
    drawn.thumbnail((WIDEST, HIGHEST), Image.Resampling.LANCZOS)
    return _written(drawn)


def draw_icon(data: bytes) -> DrawnPicture:
    """Read a picture and draw it anew in the middle of a square of 192 pixels. Raises `NoPicture`."""
    drawn = _read(data)
    drawn = drawn.crop(drawn.getchannel("A").getbbox())
    drawn.thumbnail((ICON_SIDE, ICON_SIDE), Image.Resampling.LANCZOS)
    return _written(ImageOps.pad(drawn, (ICON_SIDE, ICON_SIDE), Image.Resampling.LANCZOS, color=(0, 0, 0, 0)))


def main_colours(png: bytes, *, most: int) -> list[str]:
    """Give the colours (`#rrggbb`) that a picture of our own making mostly has, the commonest first."""
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


def _read(data: bytes) -> Image.Image:
    if len(data) > MOST_BYTES:
        raise NoPicture(TOO_LARGE)
    try:
        with Image.open(BytesIO(data), formats=FORMATS) as read:
            _check_size(*read.size)
            return ImageOps.exif_transpose(read).convert("RGBA")
    except NoPicture:
        raise
    except Image.DecompressionBombError as error:
        raise NoPicture(TOO_MANY) from error
    except UNREADABLE as error:
        raise NoPicture("The file must be a PNG, JPEG or WebP picture.") from error


def _written(drawn: Image.Image) -> DrawnPicture:
    written = BytesIO()
    drawn.save(written, "PNG", optimize=True)
    return DrawnPicture(written.getvalue(), *drawn.size)


def _check_size(width: int, height: int) -> None:
    if width * height > MOST_PIXELS:
        raise NoPicture(TOO_MANY)
    if min(width, height) < LEAST_SIDE:
        raise NoPicture("The picture must be at least 16 pixels wide and high.")
