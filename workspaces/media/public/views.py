"""A file for everybody who has its address: providers, and the people in a conversation. No session is looked at."""

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from agency.pages.branding import host_serves
from config.errors import FeatureDisabled, NotFound
from workspaces.media.models import Media
from workspaces.media.public.ranges import Range, range_of
from workspaces.media.services import is_shown_by_browsers, open_media

# If a browser opens a file in spite of all precautions, nothing in it may run or fetch anything.
POLICY = (
    "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"
)
# A file never changes, but it may be removed.
CACHED = "private, max-age=3600"
TOKEN_LENGTH = 43


@require_safe
def read_file(request: HttpRequest, token: str, filename: str) -> HttpResponseBase:
    """Give a file, or a part of it; as an attachment unless it is a picture, a sound or a film.

    On an agency's hosts there are the files of its own workspaces alone.
    """
    rows = Media.objects.with_agency().filter(token=token)
    media = rows.first() if token.isascii() and len(token) == TOKEN_LENGTH else None
    if media is None or media.filename != filename:
        raise Http404
    if not host_serves(request, media.workspace.agencies_since(media.created_at)):
        raise Http404
    etag = f'"{bytes(media.sha256).hex()}"'
    unchanged = get_conditional_response(request, etag=etag)
    answer = unchanged or _answer(request, media, _asked_range(request, media, etag))
    for name, value in _headers(media, etag).items():
        answer.headers[name] = value
    return answer


def _asked_range(request: HttpRequest, media: Media, etag: str) -> Range | None:
    if request.headers.get("If-Range", etag) != etag:
        return None
    return range_of(request.headers.get("Range", ""), media.size)


def _answer(request: HttpRequest, media: Media, asked: Range | None) -> HttpResponseBase:
    if asked and not asked.length:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{media.size}"})
    start, length = asked or Range(0, media.size)
    answer = _body(request, media, start, length)
    answer.headers["Content-Length"] = str(length)
    if asked:
        answer.status_code = 206
        answer.headers["Content-Range"] = f"bytes {start}-{start + length - 1}/{media.size}"
    return answer


def _body(request: HttpRequest, media: Media, start: int, length: int) -> HttpResponseBase:
    if request.method == "HEAD":
        return HttpResponse(content_type=media.content_type)
    try:
        return FileResponse(open_media(media, start=start, length=length), content_type=media.content_type)
    except NotFound as error:
        raise Http404 from error
    except FeatureDisabled:
        return HttpResponse(status=503, headers={"Retry-After": "5"})


def _headers(media: Media, etag: str) -> dict[str, str]:
    as_attachment = not is_shown_by_browsers(media.content_type)
    return {
        "ETag": etag,
        "Accept-Ranges": "bytes",
        "Cache-Control": CACHED,
        "Content-Disposition": content_disposition_header(as_attachment, media.filename) or "inline",
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
        "X-Robots-Tag": "noindex",
        "Referrer-Policy": "no-referrer",
    }
