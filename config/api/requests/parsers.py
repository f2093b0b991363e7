"""Reads a request's body, or refuses it before it is read."""

import re
from collections.abc import Mapping
from typing import IO, Any

from django.http import HttpRequest
from rest_framework.parsers import BaseParser

from config.api.errors.refusals import LengthRequired, Malformed, TooLarge, UnsupportedMedia
from config.api.requests.strict_json import parse_object
from config.api.responses.json import CONTENT_TYPE

MOST_BYTES = 1024 * 1024
LENGTH = re.compile(r"[0-9]{1,18}")
PARAMETER = re.compile(r';\s*([\w!#$&^.+-]+)\s*=\s*("[^"]*"|[^\s;]*)\s*')
COMMON_TYPES = frozenset({CONTENT_TYPE, f"{CONTENT_TYPE}; charset=utf-8", f"{CONTENT_TYPE};charset=utf-8"})
UTF_8 = frozenset({"utf-8", "utf8"})


def _is_json_in_utf_8(content_type: str) -> bool:
    if content_type in COMMON_TYPES:
        return True
    media, semicolon, rest = content_type.partition(";")
    charsets = {
        value.strip('"').lower() for name, value in PARAMETER.findall(semicolon + rest) if name.lower() == "charset"
    }
    return media.strip().lower() == CONTENT_TYPE and charsets <= UTF_8


def _has_unmeasured_body(request: HttpRequest) -> bool:
    """Say whether a body comes without a length: chunked, or as HTTP/2 frames."""
    if request.META.get("HTTP_TRANSFER_ENCODING"):
        return True
    return bool(request.META.get("wsgi.input_terminated") and request.META["wsgi.input"].read(1))


def _length(request: HttpRequest) -> int:
    given = request.META.get("CONTENT_LENGTH") or ""
    if not given:
        if _has_unmeasured_body(request):
            raise LengthRequired
        return 0
    if not LENGTH.fullmatch(given):
        raise Malformed("The Content-Length header is not a number.")
    return int(given)


def read_object(request: HttpRequest, *, may_be_empty: bool) -> dict[str, Any]:
    """Give the JSON object in a request's body; an empty body is `{}` where it may be empty, else 400."""
    length = _length(request)
    if length > MOST_BYTES:
        raise TooLarge
    if length == 0 and may_be_empty:
        return {}
    if request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower() not in ("", "identity"):
        raise UnsupportedMedia("Send the body without a Content-Encoding.")
    if length == 0:
        raise Malformed("The body is empty; send a JSON object.")
    if not _is_json_in_utf_8(request.META.get("CONTENT_TYPE", "")):
        raise UnsupportedMedia
    body = request.body
    if len(body) != length:
        raise Malformed("The body is shorter than its Content-Length.")
    return parse_object(body)


class StrictJSONParser(BaseParser):
    """The same reading for views that go through DRF's own parsing; names the media type to the documents."""

    media_type = CONTENT_TYPE

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        body = stream.read(MOST_BYTES + 1)
        if len(body) > MOST_BYTES:
            raise TooLarge
        return parse_object(body)
