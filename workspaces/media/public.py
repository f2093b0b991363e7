"""A file for everybody who has its address: providers, and the people in a conversation. No session is looked at."""

import re
from typing import NamedTuple

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import path
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from agency.pages.branding import host_serves
from config.errors import FeatureDisabled, NotFound
from workspaces.media.models import Media
from workspaces.media.services import is_shown_by_browsers, open_media

# A request for several ranges is answered with the whole file.

ONE_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})", re.ASCII)


class Range(NamedTuple):
    """A range of bytes. `length` is 0 if the range lies outside of the file."""

    start: int
    length: int


def parse_range_header(header: str, size: int) -> Range | None:
    """Read a Range header. None means the whole file, for a header that is empty or not understood."""
    found = ONE_RANGE.fullmatch(header.strip())
    if not found or not (found[1] or found[2]):
        return None
    if not found[1]:
        length = min(int(found[2]), size)
        return Range(size - length, length)
    start, end = int(found[1]), min(int(found[2] or size - 1), size - 1)
    if found[2] and int(found[2]) < start:
        return None
    return Range(start, max(0, end - start + 1))


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
    answer = unchanged or _answer(request, media, _requested_range(request, media, etag))
    for name, value in _headers(media, etag).items():
        answer.headers[name] = value
    return answer


def _requested_range(request: HttpRequest, media: Media, etag: str) -> Range | None:
    if request.headers.get("If-Range", etag) != etag:
        return None
    return parse_range_header(request.headers.get("Range", ""), media.size)


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


app_name = "media"
urlpatterns = [path("<str:token>/<str:filename>", read_file, name="file")]
