"""What the server answers by itself, instead of any view: a refused body, no free thread, liveness."""

import logging
from collections.abc import Mapping
from html import escape
from typing import Any, Final

import orjson
from django.conf import settings

from config.logs import name_request, request_id
from config.serving.bodies import Headers
from config.serving.responses import RawHeaders, Send, send_whole

logger = logging.getLogger("requests")

PAGE: Final = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<h1>{title}</h1><p>Request <code>{request}</code></p></html>
"""
JSON_HEADERS: Final = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
PAGE_HEADERS: Final = [
    (b"content-type", b"text/html; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
]


async def send_refusal(
    send: Send, scope: Mapping[str, Any], headers: Headers, status: int, message: str, more: RawHeaders
) -> None:
    """Answer in the form of whoever is asked: `{message}` below `/api/`, elsewhere a small page."""
    name = name_request(headers.get(b"x-request-id", b"").decode("latin-1"))
    if scope["path"].startswith("/api/"):
        body, form = orjson.dumps({"message": message}), JSON_HEADERS
    else:
        body, form = PAGE.format(title=escape(message), request=name).encode(), PAGE_HEADERS
    own = [(b"content-length", str(len(body)).encode()), (b"x-request-id", name.encode())]
    _log(scope, status, name)
    await send_whole(send, status, [*form, (b"x-content-type-options", b"nosniff"), *own, *more], body)


def _log(scope: Mapping[str, Any], status: int, name: str) -> None:
    token = request_id.set(name)
    logger.info("request", extra={"method": scope["method"], "path": scope["path"], "status": status})
    request_id.reset(token)


def is_liveness(scope: Mapping[str, Any]) -> bool:
    return scope["path"] == "/healthz" and scope["method"] in ("GET", "HEAD")


async def send_liveness(send: Send) -> None:
    """Answer as the view of `/healthz` does, on the event loop: also while every thread is held."""
    body = orjson.dumps({"status": "ok", "instance": settings.INSTANCE_ID})
    headers = [*JSON_HEADERS, (b"content-length", str(len(body)).encode())]
    await send_whole(send, 200, headers, body)
