"""An agency's brand as files that anybody's browser may fetch, and whether a proxy may get a certificate."""

import re

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path, register_converter
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from agency.pages.branding import host_agency_id
from agency.services import picture_named
from agency.services.colours import Contrast, tokens_of
from agency.services.hosts import agency_of_host

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


@csrf_exempt
@require_safe
def tls_allowed(request: HttpRequest) -> HttpResponse:
    """Answer 200 for a verified domain and 404 for any other name, from memory: without a query and without a body."""
    names = request.GET.getlist("domain")
    is_verified = len(names) == 1 and agency_of_host(names[0].lower().rstrip(".")) is not None
    return HttpResponse(status=200 if is_verified else 404, headers={"Cache-Control": "no-store"})


class DigestConverter:
    """A SHA-256 in hex."""

    regex = "[0-9a-f]{64}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(DigestConverter, "digest")

app_name = "brand"
urlpatterns = [
    path("<str:colour>.css", stylesheet, name="colours"),
    path("<digest:digest>.png", picture, name="picture"),
]
