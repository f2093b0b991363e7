"""An agency's brand and app as files that anybody's browser may fetch, and whether a proxy may get a certificate."""

import re
from functools import lru_cache
from typing import Final
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import path, register_converter, reverse
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

import config.api.requests  # noqa: F401  # paths name ids by it: `<id:uuid>`
from agency.models import Agency
from agency.pages.branding import host_agency_id, host_serves
from agency.services import brand_of, picture_named
from agency.services.brands import ICONS, app_colour, app_icon
from agency.services.colours import Contrast, tokens_of
from agency.services.hosts import agency_of_host

COLOUR = re.compile(r"[0-9a-f]{6}", re.ASCII)
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
A_DAY = {"Cache-Control": "public, max-age=86400"}
AREAS: Final = {"app": "app:home", "console": "console:home"}
BACKGROUND: Final = "#ffffff"
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


def _agency_shown(request: HttpRequest, uuid: UUID | None) -> Agency:
    found = Agency.objects.filter(uuid=uuid).first() if uuid else None
    if found is None or not host_serves(request, [found.pk]):
        raise Http404
    return found


@require_safe
def manifest(request: HttpRequest, uuid: UUID | None, area: str) -> HttpResponse:
    """What a browser needs to install the dashboard or the console as an app of the agency."""
    if area not in AREAS:
        raise Http404
    agency = _agency_shown(request, uuid)
    name = f"{agency.name} · {_('Console')}" if area == "console" else agency.name
    icons = [
        {
            "src": reverse("brand:icon", args=[agency.uuid, icon]),
            "sizes": f"{ICONS[icon].side}x{ICONS[icon].side}",
            "type": "image/png",
            "purpose": purpose,
        }
        for icon, purpose in (("icon-192", "any"), ("icon-512", "any"), ("maskable-512", "maskable"))
    ]
    app = {
        "id": f"/{area}",
        "name": name,
        "start_url": reverse(AREAS[area]),
        "scope": "/",
        "display": "standalone",
        "theme_color": app_colour(brand_of(agency)),
        "background_color": BACKGROUND,
        "icons": icons,
    }
    response = JsonResponse(app, content_type="application/manifest+json", headers=A_DAY)
    patch_vary_headers(response, ("Accept-Language",))
    return response


@require_safe
def icon(request: HttpRequest, uuid: UUID | None, name: str) -> HttpResponse:
    """An icon of the installed app, as a PNG."""
    if name not in ICONS:
        raise Http404
    return HttpResponse(app_icon(_agency_shown(request, uuid), name), content_type="image/png", headers=A_DAY)


@require_safe
def service_worker(request: HttpRequest) -> HttpResponse:
    """The script that shows alerts. It stands at the root, so that it may open every page of the host."""
    headers = {"Cache-Control": "no-cache", "Content-Security-Policy": "default-src 'none'; connect-src 'self'"}
    return HttpResponse(_service_worker(), content_type="text/javascript; charset=utf-8", headers=headers)


@lru_cache(maxsize=1)
def _service_worker() -> bytes:
    return (settings.BASE_DIR / "templates" / "static" / "console" / "service-worker.js").read_bytes()


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
    path("<id:uuid>/<str:area>.webmanifest", manifest, name="manifest"),
    path("<id:uuid>/<str:name>.png", icon, name="icon"),
]
