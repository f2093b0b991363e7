"""The icons of an agency's installed app: its own favicon or its logo, else the first letter of its name."""

import unicodedata
from functools import lru_cache
from io import BytesIO
from typing import Final, Literal, NamedTuple

from PIL import Image, ImageChops, ImageDraw, ImageFont, ImageStat

from agency.models import Agency, Brand
from agency.services.brands import brand_of
from agency.services.colours import text_on

Source = Literal["logo", "favicon"]


class IconShape(NamedTuple):
    """The side in pixels, how much of it the picture may fill, and whether the corners stay transparent.

    Phones cut any shape out of a maskable icon, of which they keep the middle four fifths.
    """

    side: int
    share: float
    is_transparent: bool


ICONS: Final = {
    "icon-192": IconShape(192, 1, is_transparent=True),
    "icon-512": IconShape(512, 1, is_transparent=True),
    "maskable-512": IconShape(512, 0.6, is_transparent=False),
    "touch-180": IconShape(180, 0.8, is_transparent=False),
}
# Accent and paper of tokens.css.
USUAL_COLOUR: Final = "#4f46e5"
PAPER: Final = "#ffffff"
# A picture is not made larger than this, as it would look blurred.
MOST_ENLARGED: Final = 2
# The mean brightness from which a picture cannot be seen on paper.
TOO_BRIGHT: Final = 215
# How much larger shapes are drawn at first, so that their edges are smooth.
FINER: Final = 3
MOST_KEPT: Final = 64


def app_colour(brand: Brand) -> str:
    """Return the colour of the app's frame."""
    return brand.accent or USUAL_COLOUR


def app_icon(agency: Agency, name: str) -> bytes:
    """Return an icon as a PNG; `name` is one of `ICONS`."""
    brand = brand_of(agency)
    source: Source = "favicon" if brand.favicon_is_own else "logo"
    found = brand.picture(source)
    if found is None:
        return _letter_icon(_letter_of(agency.name), app_colour(brand), name)
    return _picture_icon(agency.pk, source, found.digest, app_colour(brand), name)


@lru_cache(maxsize=MOST_KEPT)
def _picture_icon(agency_id: int, source: Source, digest: str, colour: str, name: str) -> bytes:
    """Draw a brand's picture, which we have made; `digest` tells pictures apart."""
    png = Brand.objects.filter(agency=agency_id).values_list(source, flat=True).get()
    if png is None:  # removed a moment ago
        return _drawn_bubble(colour, name)
    with Image.open(BytesIO(bytes(png)), formats=["PNG"]) as read:
        picture = read.convert("RGBA")
    shape = ICONS[name]
    room = shape.side * shape.share
    scale = min(room / picture.width, room / picture.height, MOST_ENLARGED)
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    picture = picture.resize(size, Image.Resampling.LANCZOS)
    ground = (0, 0, 0, 0) if shape.is_transparent else (colour if _is_bright(picture) else PAPER)
    icon = Image.new("RGBA", (shape.side, shape.side), ground)
    icon.alpha_composite(picture, ((shape.side - size[0]) // 2, (shape.side - size[1]) // 2))
    return _written(icon)


def _is_bright(picture: Image.Image) -> bool:
    mask = picture.getchannel("A").point(lambda alpha: 255 if alpha > 127 else 0)
    covered = ImageStat.Stat(mask).sum[0]
    grey = picture.convert("L")
    return bool(covered) and ImageStat.Stat(ImageChops.multiply(grey, mask)).sum[0] * 255 / covered > TOO_BRIGHT


def _letter_of(name: str) -> str:
    """Return the first letter of a name without its accents, "" if the font cannot write it."""
    first = unicodedata.normalize("NFKD", name.strip())[:1].upper()
    return first if first.isascii() and first.isalnum() else ""


@lru_cache(maxsize=MOST_KEPT)
def _letter_icon(letter: str, colour: str, name: str) -> bytes:
    if not letter:
        return _drawn_bubble(colour, name)
    icon, paper = _ground(colour, name)
    side, middle = icon.width, icon.width / 2
    font = ImageFont.load_default(size=round(side * 0.5))
    ink = text_on(colour)
    paper.text((middle, middle), letter, font=font, fill=ink, anchor="mm", stroke_width=side // 64, stroke_fill=ink)
    return _written(icon.reduce(FINER))


def _drawn_bubble(colour: str, name: str) -> bytes:
    """Draw a speech bubble, for names in other scripts."""
    icon, paper = _ground(colour, name)
    unit, ink = icon.width / 40, text_on(colour)
    paper.rounded_rectangle((11 * unit, 13 * unit, 29 * unit, 24 * unit), 2.5 * unit, fill=ink)
    paper.polygon([(11 * unit, 20 * unit), (11 * unit, 27 * unit), (17 * unit, 22 * unit)], fill=ink)
    return _written(icon.reduce(FINER))


def _ground(colour: str, name: str) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """Return a larger square in the colour, with round corners if they may be transparent."""
    side, is_transparent = ICONS[name].side * FINER, ICONS[name].is_transparent
    icon = Image.new("RGBA", (side, side), (0, 0, 0, 0))
    paper = ImageDraw.Draw(icon)
    paper.rounded_rectangle((0, 0, side, side), side * 0.22 if is_transparent else 0, fill=colour)
    return icon, paper


def _written(icon: Image.Image) -> bytes:
    written = BytesIO()
    icon.save(written, "PNG", optimize=True)
    return written.getvalue()
