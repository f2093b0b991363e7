"""An agency's colours as a stylesheet, as pages may carry no inline styles, and its pictures by their digests."""

import re

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from agency.pages.branding.host import host_agency_id
from agency.services import picture_named
from agency.services.colours import Contrast, tokens_of

COLOUR = re.compile(r"[0-9a-f]{6}", re.ASCII)
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
SHEET = """{usual}
@media (prefers-contrast: more) {{ {more} }}
"""


@require_safe
def stylesheet(request: HttpRequest, colour: str) -> HttpResponse:
    """All tokens that follow from a colour, in both themes, and with more contrast for people who ask for it."""
    if not COLOUR.fullmatch(colour):
        raise Http404
    sheet = SHEET.format(usual=_rule(f"#{colour}", "usual"), more=_rule(f"#{colour}", "more"))
    return HttpResponse(sheet, content_type="text/css; charset=utf-8", headers=FOREVER)


def _rule(colour: str, contrast: Contrast) -> str:
    light, dark = tokens_of(colour, "light", contrast), tokens_of(colour, "dark", contrast)
    tokens = " ".join(f"--{name}: light-dark({value}, {dark[name]});" for name, value in light.items())
    return f".branded {{ {tokens} }}"


@require_safe
def picture(request: HttpRequest, digest: str) -> HttpResponse:
    """The PNG with this SHA-256, while an agency shows it: on its own hosts and on the installation's."""
    png = picture_named(digest, agency_id=host_agency_id(request))
    if png is None:
        raise Http404
    return HttpResponse(png, content_type="image/png", headers=FOREVER)
