"""Agencies' logos, named by what is in them."""

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from agency.public.colours import FOREVER
from agency.services import logo_named


@require_safe
def logo(request: HttpRequest, digest: str) -> HttpResponse:
    """The PNG with this SHA-256, while an agency shows it."""
    png = logo_named(digest)
    if png is None:
        raise Http404
    return HttpResponse(png, content_type="image/png", headers=FOREVER)
