"""An agency's brand: its colour, its logo for both themes, its favicon, drawn from uploaded pictures."""

import hashlib
import logging
import re
import struct
import subprocess
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache
from io import BytesIO
from threading import BoundedSemaphore
from typing import Final, Literal, NamedTuple, cast

from django.db import transaction
from PIL import Image, ImageChops, ImageDraw, ImageFont, ImageStat

from agency.actors import Actor
from agency.models import Agency, Brand
from agency.models.branding import PICTURE_BYTE_FIELDS, PictureKind
from agency.services import picture_program
from agency.services.activity import Changes, record_activity
from agency.services.colours import text_on
from config.errors import InvalidInput

logger = logging.getLogger(__name__)

MOST_BYTES = 1024 * 1024
TOO_LARGE = "The file is larger than 1 MiB."
TOO_MUCH_WORK: Final = "This picture is too complex. Save it again in an image editor, then upload the new file."
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
# The names that `picture_program.py` has for what it draws.
PictureVariant = Literal["logo", "icon"]


class DrawnPicture(NamedTuple):
    """A PNG with its size in pixels."""

    png: bytes
    width: int
    height: int


class InvalidPicture(ValueError):
    """The bytes are no picture that is accepted; the message says why, for a person."""


def draw(data: bytes, *works: PictureVariant) -> list[DrawnPicture]:
    """Read a PNG, JPEG or WebP file and draw it anew: as a logo, as an icon, or both. Raises `InvalidPicture`.

    A separate process does it, which knows nothing of the product and ends by itself.
    """
    if len(data) > MOST_BYTES:
        raise InvalidPicture(TOO_LARGE)
    program = [sys.executable, "-I", picture_program.__file__, str(MOST_CPU_SECONDS), *works]
    with AT_ONCE:
        try:
            done = subprocess.run(program, input=data, capture_output=True, env={}, timeout=LONGEST_SECONDS)  # noqa: S603  # ours
        except subprocess.TimeoutExpired:
            raise InvalidPicture(TOO_MUCH_WORK) from None
    if done.returncode in picture_program.EXIT_MESSAGES:
        raise InvalidPicture(picture_program.EXIT_MESSAGES[done.returncode])
    if done.returncode:
        logger.warning("a picture was not drawn", extra={"exit": done.returncode})
        raise InvalidPicture(TOO_MUCH_WORK)
    return [_measured(png) for png in _parts(done.stdout)]


def draw_icon_from_logo(png: bytes) -> DrawnPicture:
    """Draw the icon of a picture that we have made."""
    return _measured(picture_program.icon_of(picture_program.read_picture(png)))


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
        (length,) = picture_program.LENGTH.unpack_from(written)
        rest = written[picture_program.LENGTH.size :]
        yield rest[:length]
        written = rest[length:]


def _measured(png: bytes) -> DrawnPicture:
    """Return a PNG that we have made, with the size that its header says."""
    width, height = struct.unpack_from(">II", png, 16)
    return DrawnPicture(png, width, height)


ACCENT = re.compile(r"#[0-9a-f]{6}", re.ASCII)
MOST_SUGGESTED: Final = 5
# What is drawn from an uploaded file, the requested picture first; a logo also gives the favicon.
DRAWN_OF: Final[dict[PictureKind, tuple[PictureVariant, ...]]] = {
    "logo": ("logo", "icon"),
    "dark_logo": ("logo",),
    "favicon": ("icon",),
}


class AccentRefused(InvalidInput):
    field = "accent"
    message = "The colour must be written like #1f6feb."


class PictureRefused(InvalidInput):
    """The message says what is wrong with the file."""

    field = "picture"


def brand_of(agency: Agency) -> Brand:
    """Return the agency's brand without the pictures' bytes; if none was saved, that of the product's own look."""
    return Brand.objects.filter(agency=agency).defer(*PICTURE_BYTE_FIELDS).first() or Brand(agency=agency)


def picture_named(digest: str, *, agency_id: int | None = None) -> bytes | None:
    """Return the PNG with this SHA-256 while this agency shows it; without `agency_id`, while any agency does."""
    brands = Brand.objects.all() if agency_id is None else Brand.objects.filter(agency=agency_id)
    for kind in PICTURE_BYTE_FIELDS:
        found = brands.filter(**{f"{kind}_digest": digest}).values_list(kind, flat=True).first()
        if found:
            return bytes(found)
    return None


def suggested_colours(agency: Agency) -> list[str]:
    """Return colours of an agency's logo as suggestions for its pages."""
    png = Brand.objects.filter(agency=agency).values_list("logo", flat=True).first()
    return main_colours(bytes(png), most=MOST_SUGGESTED) if png else []


@transaction.atomic
def set_accent(*, agency: Agency, accent: str, by: Actor) -> None:
    """Choose the colour that customers see; empty for the product's own. Raises `AccentRefused`."""
    accent = accent.lower()
    if accent and not ACCENT.fullmatch(accent):
        raise AccentRefused
    brand = _lock(agency)
    if brand.accent == accent:
        return
    changes = {"accent": (brand.accent, accent)}
    brand.accent = accent
    brand.save(update_fields=["accent", "changed_at"])
    _record(agency, "brand.colour_changed", by, changes=changes)


def set_picture(*, agency: Agency, kind: PictureKind, file: bytes, by: Actor) -> None:
    """Save a logo, a logo for dark backgrounds, or a favicon. Raises `PictureRefused`.

    The favicon is made from the logo unless the agency has uploaded its own.
    """
    try:
        drawn, *icons = draw(file, *DRAWN_OF[kind])
    except InvalidPicture as error:
        raise PictureRefused(str(error)) from error
    values = _columns(kind, drawn)
    digest = str(values[f"{kind}_digest"])
    with transaction.atomic():
        brand = _lock(agency)
        if kind == "favicon":
            values["favicon_is_own"] = True
        elif icons and not brand.favicon_is_own:
            values |= _columns("favicon", icons[0])
        if any(getattr(brand, name) != value for name, value in values.items() if name not in PICTURE_BYTE_FIELDS):
            _save(brand, values)
            _record(agency, f"brand.{kind}_changed", by, digest=digest)


@transaction.atomic
def remove_picture(*, agency: Agency, kind: PictureKind, by: Actor) -> None:
    """Remove a picture; if there is none, nothing changes.

    Without a logo, pages show the name's first letter; without its own favicon, an agency has one made from its logo.
    """
    brand = Brand.objects.select_for_update(no_key=True).defer(*PICTURE_BYTE_FIELDS).filter(agency=agency).first()
    if brand is None or brand.picture(kind) is None or (kind == "favicon" and not brand.favicon_is_own):
        return
    values = _columns(kind, None)
    if kind == "favicon":
        values |= {
            "favicon_is_own": False,
            **_columns("favicon", draw_icon_from_logo(bytes(brand.logo)) if brand.logo else None),
        }
    elif kind == "logo" and not brand.favicon_is_own:
        values |= _columns("favicon", None)
    _save(brand, values)
    _record(agency, f"brand.{kind}_removed", by)


def _columns(kind: PictureKind, drawn: DrawnPicture | None) -> dict[str, object]:
    """Return the columns of a picture, or of no picture."""
    return {
        kind: drawn.png if drawn else None,
        f"{kind}_digest": hashlib.sha256(drawn.png).hexdigest() if drawn else "",
        f"{kind}_width": drawn.width if drawn else None,
        f"{kind}_height": drawn.height if drawn else None,
    }


def _save(brand: Brand, values: Mapping[str, object]) -> None:
    for name, value in values.items():
        setattr(brand, name, value)
    brand.save(update_fields=[*values, "changed_at"])


def _lock(agency: Agency) -> Brand:
    """Lock the agency's row without the pictures' bytes, creating it the first time."""
    Brand.objects.bulk_create([Brand(agency=agency)], ignore_conflicts=True)
    return Brand.objects.select_for_update(no_key=True).defer(*PICTURE_BYTE_FIELDS).get(agency=agency)


def _record(agency: Agency, action: str, by: Actor, changes: Changes | None = None, **details: str) -> None:
    target = ("agency", agency.uuid, agency.name)
    record_activity(by=by, action=action, agency_id=agency.pk, target=target, details=details or None, changes=changes)


# Icons of an installed app -------------------------------------------------------------------------


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
