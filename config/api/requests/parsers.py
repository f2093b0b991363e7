"""Reads a request's body, or refuses it unread."""

import re
from collections.abc import Mapping
from typing import IO, Any

from django.http import HttpRequest
from rest_framework.parsers import BaseParser

from config.api.errors.refusals import Malformed, TooLarge, UnsupportedMedia
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


def _read_unmeasured(request: HttpRequest) -> bytes:
    """Return a body that came without a length: in chunks, or as HTTP/2 frames.

    Our own server measures such bodies before any view runs (`config/serving/bodies.py`). Another server may pass them
    as a stream that ends where the body does. A server that does neither would lose a body in chunks, so it is refused.
    """
    if request.META.get("wsgi.input_terminated"):
        body: bytes = request.META["wsgi.input"].read(MOST_BYTES + 1)
        return body
    if request.META.get("HTTP_TRANSFER_ENCODING"):
        raise Malformed("This server cannot read a body that is sent in chunks.")
    return b""


def _body(request: HttpRequest) -> bytes:
    """Return the body, at most 1 MiB. A longer one is refused unread if its length is known."""
    given = request.META.get("CONTENT_LENGTH") or ""
    if not given:
        body = _read_unmeasured(request)
        if len(body) > MOST_BYTES:
            raise TooLarge
        return body
    if not LENGTH.fullmatch(given):
        raise Malformed("The Content-Length header is not a number.")
    length = int(given)
    if length > MOST_BYTES:
        raise TooLarge
    measured = request.body if length else b""
    if len(measured) != length:
        raise Malformed("The body is shorter than its Content-Length.")
    return measured


def _require_json(request: HttpRequest) -> None:
    if request.META.get("HTTP_CONTENT_ENCODING", "").strip().lower() not in ("", "identity"):
        raise UnsupportedMedia("Send the body without a Content-Encoding.")
    if not _is_json_in_utf_8(request.META.get("CONTENT_TYPE", "")):
        raise UnsupportedMedia


def read_object(request: HttpRequest, *, may_be_empty: bool) -> dict[str, Any]:
    """Return the JSON object in a request's body. An empty body is `{}` if it may be empty, else 400."""
    body = _body(request)
    if body:
        _require_json(request)
        return parse_object(body)
    if may_be_empty:
        return {}
    raise Malformed("The body is empty; send a JSON object.")


class StrictJSONParser(BaseParser):
    """The same reader for views that use DRF's own parsing. The documents take the media type from it."""

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
