"""All colours of an agency's pages from one colour; texts have the contrast of WCAG 2.2 AA, or AAA, in both themes.

Lightness and chroma change in OKLCH, in which equal steps look equal and the hue stays the same.
"""

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Literal, NamedTuple

ColourScheme = Literal["light", "dark"]
Contrast = Literal["usual", "more"]
Tokens = dict[str, str]

TEXT: Final = 4.5
EDGE: Final = 3.0
# For people who ask for more contrast: what WCAG 2.2 AAA requires of texts.
MORE_TEXT: Final = 7.0
BLACK, WHITE = "#000000", "#ffffff"
STEP: Final = 0.01
# How far a colour's lightness moves under the pointer.
HOVER: Final = 0.06


class Surface(NamedTuple):
    """A theme's backgrounds and texts in tokens.css; `soft` is the lightness and the largest chroma of `accent-soft`.

    `away` is the direction in which a colour gains contrast: -1 darker, 1 lighter.
    """

    grounds: tuple[str, ...]
    texts: tuple[str, ...]
    soft: tuple[float, float]
    away: int


SURFACES: Final[dict[ColourScheme, Surface]] = {
    "light": Surface(("#f6f7f9", "#ffffff", "#f2f4f7"), ("#1a2033", "#566074"), (0.955, 0.03), -1),
    "dark": Surface(("#0d1017", "#151a23", "#1d2430", "#10141c"), ("#e8ebf2", "#9ba6b8"), (0.28, 0.06), 1),
}


class Oklch(NamedTuple):
    """A colour by lightness (0 to 1), chroma and hue (in radians)."""

    lightness: float
    chroma: float
    hue: float


def luminance(colour: str) -> float:
    """Return the relative luminance of `#rrggbb`, as WCAG defines it."""
    red, green, blue = _linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def text_on(colour: str) -> str:
    """Return white if it can be read on the colour, else black, which then can."""
    return WHITE if contrast(WHITE, colour) >= TEXT else BLACK


@lru_cache(maxsize=1_000)
def tokens_of(colour: str, theme: ColourScheme, contrast_wanted: Contrast = "usual") -> Tokens:
    """Return the tokens of tokens.css that follow from an agency's colour (`#rrggbb`).

    `accent` and its variants are for texts, lines and marks. `button` is the colour itself, or with more contrast the
    nearest colour on which its text stands out.
    """
    ground, own = SURFACES[theme], _oklch(colour)
    soft, least = _soft(own, ground), MORE_TEXT if contrast_wanted == "more" else TEXT
    accent = _with_contrast(own, (*ground.grounds, soft), ground.away, least)
    button_text = text_on(colour)
    if contrast_wanted == "more":
        colour = _with_contrast(own, (button_text,), -1 if button_text == WHITE else 1, least)
    stands_out = all(contrast(colour, one) >= EDGE for one in ground.grounds)
    return {
        "accent": accent,
        "accent-strong": _hover_colour(accent, text_on(accent)),
        "accent-soft": soft,
        "on-accent": text_on(accent),
        "button": colour,
        "button-strong": _hover_colour(colour, button_text),
        "on-button": button_text,
        "button-edge": "transparent" if stands_out else "var(--edge)",
    }


def _soft(own: Oklch, ground: Surface) -> str:
    """Return a faint shade of the colour, on which the theme's own texts can be read."""
    lightness, most = ground.soft
    return _hex(Oklch(lightness, min(own.chroma, most), own.hue))


def _with_contrast(own: Oklch, grounds: Iterable[str], away: int, least: float) -> str:
    """Return the colour, or the nearest colour of its hue with enough contrast to all backgrounds."""
    shown, lightness = _hex(own), own.lightness
    while any(contrast(shown, ground) < least for ground in grounds):
        lightness += away * STEP
        shown = _hex(own._replace(lightness=lightness))
    return shown


def _hover_colour(colour: str, text: str) -> str:
    """Return the colour under the pointer: further from its text, or a little nearer if there is no further."""
    own = _oklch(colour)
    away = -HOVER if text == WHITE else HOVER
    has_room = 0 <= own.lightness + away <= 1
    return _hex(own._replace(lightness=own.lightness + (away if has_room else -3 * away)))


def _linear(colour: str) -> list[float]:
    shares = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]


# The matrices are those of CSS Color 4.
def _oklch(colour: str) -> Oklch:
    red, green, blue = _linear(colour)
    long = math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    medium = math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    short = math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    lightness = 0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short
    a = 1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short
    b = 0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short
    return Oklch(lightness, math.hypot(a, b), math.atan2(b, a))


def _rgb(colour: Oklch) -> tuple[float, float, float]:
    """Return linear red, green and blue; below 0 or above 1 if no screen can show the colour."""
    a, b = colour.chroma * math.cos(colour.hue), colour.chroma * math.sin(colour.hue)
    long = (colour.lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (colour.lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (colour.lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )


def _hex(colour: Oklch) -> str:
    """Write a colour as `#rrggbb`, with as much of its chroma as screens can show."""
    fitting = colour._replace(lightness=min(1.0, max(0.0, colour.lightness)))
    low, high = 0.0, fitting.chroma
    if not _is_shown(fitting):
        for _ in range(12):
            middle = (low + high) / 2
            low, high = (middle, high) if _is_shown(fitting._replace(chroma=middle)) else (low, middle)
        fitting = fitting._replace(chroma=low)
    return "#" + "".join(f"{round(255 * _share(part)):02x}" for part in _rgb(fitting))


def _is_shown(colour: Oklch) -> bool:
    return all(-0.0005 <= part <= 1.0005 for part in _rgb(colour))


def _share(part: float) -> float:
    part = min(1.0, max(0.0, part))
    return 12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055
