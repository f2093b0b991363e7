"""Answers that the server gives by itself, without a view: a refused body, no free thread, liveness."""

import logging
import time
from collections.abc import Mapping
from html import escape
from typing import Any, Final

import orjson
from django.conf import settings

from config.logs import name_request, request_id
from config.loop_answers import LoopAnswer, LoopRequest
from config.metrics import observe
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
    """Answer in the form of the path's area: `{message}` below `/api/`, elsewhere a small page."""
    started = time.perf_counter()
    name = name_request(headers.get(b"x-request-id", b"").decode("latin-1"))
    if scope["path"].startswith("/api/"):
        body, form = orjson.dumps({"message": message}), JSON_HEADERS
    else:
        body, form = PAGE.format(title=escape(message), request=name).encode(), PAGE_HEADERS
    own = [(b"content-length", str(len(body)).encode()), (b"x-request-id", name.encode())]
    _log(scope, status, name, started)
    await send_whole(send, status, [*form, (b"x-content-type-options", b"nosniff"), *own, *more], body)


def _log(scope: Mapping[str, Any], status: int, name: str, started: float) -> None:
    token, ms = request_id.set(name), round((time.perf_counter() - started) * 1000, 1)
    logger.info("request", extra={"method": scope["method"], "path": scope["path"], "status": status, "ms": ms})
    request_id.reset(token)


async def send_loop_answer(send: Send, scope: Mapping[str, Any], answer: LoopAnswer, more: RawHeaders) -> None:
    """Send an app's answer from the event loop, with an id and a line in the log as every answer has."""
    started, request = time.perf_counter(), LoopRequest(scope)
    name = name_request(request.header(b"x-request-id"))
    own = [(b"content-length", b"0"), (b"x-content-type-options", b"nosniff"), (b"x-request-id", name.encode())]
    if request.is_secure and settings.SECURE_HSTS_SECONDS:
        own.append((b"strict-transport-security", _hsts(answer).encode()))
    await send_whole(send, answer.status, [*answer.headers, *own, *more], b"")
    _log(scope, answer.status, name, started)
    observe("web_request_seconds", time.perf_counter() - started, "pages")


def _hsts(answer: LoopAnswer) -> str:
    """Return the HSTS header as Django writes it. On an agency's host it covers that host alone."""
    more = [
        "; includeSubDomains" if settings.SECURE_HSTS_INCLUDE_SUBDOMAINS else "",
        "; preload" if settings.SECURE_HSTS_PRELOAD else "",
    ]
    return f"max-age={settings.SECURE_HSTS_SECONDS}{''.join(more) if answer.is_installations else ''}"


def is_liveness(scope: Mapping[str, Any]) -> bool:
    return scope["path"] == "/healthz" and scope["method"] in ("GET", "HEAD")


async def send_liveness(send: Send) -> None:
    """Answer `/healthz` as its view does, but on the event loop, so that it works while every thread is busy."""
    body = orjson.dumps({"status": "ok", "instance": settings.INSTANCE_ID})
    headers = [*JSON_HEADERS, (b"content-length", str(len(body)).encode())]
    await send_whole(send, 200, headers, body)
