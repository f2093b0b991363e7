"""An agency's colour as a stylesheet, as no page may carry styles of its own, and its logo, named by its digest."""

import re

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from agency.services import logo_named

COLOUR = re.compile(r"[0-9a-f]{6}", re.ASCII)
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}


@require_safe
def stylesheet(request: HttpRequest, colour: str) -> HttpResponse:
    """The colour of buttons, with black or white upon it, whichever stands out more."""
    if not COLOUR.fullmatch(colour):
        raise Http404
    sheet = f":root {{ --brand: #{colour}; --on-brand: {text_on(colour)}; }}\n"
    return HttpResponse(sheet, content_type="text/css; charset=utf-8", headers=FOREVER)


def text_on(colour: str) -> str:
    """Black or white: one of them always has a contrast of at least 4.5 to 1."""
    light = brightness(colour)
    return "#000000" if (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) else "#ffffff"


def brightness(colour: str) -> float:
    """The relative luminance of `rrggbb`, as WCAG defines it."""
    shares = (int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4))
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@require_safe
def logo(request: HttpRequest, digest: str) -> HttpResponse:
    """The PNG with this SHA-256, while an agency shows it."""
    png = logo_named(digest)
    if png is None:
        raise Http404
    return HttpResponse(png, content_type="image/png", headers=FOREVER)
