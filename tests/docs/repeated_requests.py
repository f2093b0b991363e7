"""Answers a request that samples in several languages send alike once by the product, then from memory."""

import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email import message_from_bytes
from typing import Any, NamedTuple

import pytest
from django.core.handlers.wsgi import WSGIHandler

RANDOM_KEY = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# What the product may read of a request, besides its `Idempotency-Key`, body and type of the body.
READ = (
    "REQUEST_METHOD",
    "PATH_INFO",
    "QUERY_STRING",
    "HTTP_HOST",
    "HTTP_X_API_KEY",
    "HTTP_AUTHORIZATION",
    "HTTP_ACCEPT",
)


class Kept(NamedTuple):
    """A request with its answer."""

    sent: object
    status: str
    headers: list[tuple[str, str]]
    content: bytes


class RepeatedRequests:
    """Keeps the first request since `forget` with its answer. `count` is the number of requests since `begin`.

    A request that differs in anything is answered by the product.
    """

    def __init__(self) -> None:
        self.kept: Kept | None = None
        self.count = self.repeated = 0

    def forget(self) -> None:
        self.kept = None

    def begin(self) -> None:
        self.count = 0

    def answer(self, product: Callable[..., Any], environ: dict[str, Any], start_response: Any) -> list[bytes]:
        self.count += 1
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        sent = sent_by(environ, body)
        if self.kept is None or self.kept.sent != sent:
            answered = self._of_the_product(product, {**environ, "wsgi.input": io.BytesIO(body)}, sent)
            self.kept = self.kept or answered
        else:
            answered, self.repeated = self.kept, self.repeated + 1
        start_response(answered.status, answered.headers)
        return [answered.content]

    @staticmethod
    def _of_the_product(product: Callable[..., Any], environ: dict[str, Any], sent: object) -> Kept:
        begun: list[Any] = []
        response = product(environ, lambda status, headers, *_: begun.extend((status, headers)))
        try:
            content = b"".join(response)
        finally:
            if hasattr(response, "close"):
                response.close()
        return Kept(sent, begun[0], begun[1], content)


def sent_by(environ: dict[str, Any], body: bytes) -> object:
    """Give what a request says, however its language writes JSON, random keys and boundaries."""
    key, kind = environ.get("HTTP_IDEMPOTENCY_KEY", ""), environ.get("CONTENT_TYPE", "")
    said: object = body
    if kind == "application/json":
        said = json.loads(body)
    elif kind.startswith("multipart/form-data"):
        kind, said = "multipart/form-data", _parts(kind, body)
    return [*(environ.get(name) for name in READ), "random" if RANDOM_KEY.fullmatch(key) else key, kind, said]


def _parts(kind: str, body: bytes) -> list[object]:
    message = message_from_bytes(b"Content-Type: %s\r\n\r\n%s" % (kind.encode(), body))
    return [[sorted(part.items()), part.get_payload(decode=True)] for part in message.walk() if part is not message]


@contextmanager
def repeated_requests() -> Iterator[RepeatedRequests]:
    """Stand before the product in every live server."""
    requests, product = RepeatedRequests(), WSGIHandler.__call__

    def answered(handler: WSGIHandler, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        return requests.answer(lambda *given: product(handler, *given), environ, start_response)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WSGIHandler, "__call__", answered)
        yield requests
