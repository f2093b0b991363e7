"""Cheap answers that the web server gives on its event loop, without Django and without a thread.

An app declares the paths below which it may answer this way. A request that it cannot answer from memory goes through
Django as usual.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypedDict

from django.conf import settings

from config.api.requests import is_trusted_peer
from config.hooks import Registry

RawHeaders = list[tuple[bytes, bytes]]
SAFE_METHODS: Final = frozenset({"GET", "HEAD"})


class Scope(TypedDict, total=False):
    """A request as ASGI's `http` scope describes it. A `lifespan` scope has only the type."""

    type: str
    http_version: str
    method: str
    scheme: str
    path: str
    raw_path: bytes
    query_string: bytes
    headers: list[tuple[bytes, bytes]]
    root_path: str
    client: tuple[str, int] | None
    server: tuple[str, int | None] | None


class EventLoopRequest:
    """A request as the ASGI server received it. Header names are in lower case."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.headers: dict[bytes, bytes] = dict(scope["headers"])

    @property
    def path(self) -> str:
        return self.scope["path"]

    @property
    def method(self) -> str:
        method: str = self.scope["method"]
        return method

    def header(self, name: bytes) -> str:
        return self.headers.get(name, b"").decode("latin-1")

    @property
    def is_secure(self) -> bool:
        """Whether the client uses https, to this server or to a proxy that the installation trusts."""
        if self.scope["scheme"] == "https":
            return True
        is_said = self.headers.get(b"x-forwarded-proto") == b"https"
        return is_said and is_trusted_peer((self.scope.get("client") or ("",))[0])


@dataclass(frozen=True, slots=True)
class EventLoopResponse:
    """An answer without a body.

    `afterwards` runs in a thread with a database connection, after the answer. It returns whether something is left to
    do; if so, it runs again after a moment. `is_installations` says that the host is one of the installation's own. On
    these the HSTS header has all of Django's options.
    """

    status: int
    headers: RawHeaders
    is_installations: bool
    afterwards: Callable[[], bool] | None = None


@dataclass(frozen=True, slots=True)
class EventLoopRoute:
    """The handler of all paths below `name`, which ends in a slash. It must not block. None leaves it to Django."""

    name: str
    answer: Callable[[EventLoopRequest], EventLoopResponse | None]


class EventLoopRoutes(Registry[EventLoopRoute]):
    """The loop paths of all apps."""

    def answer(self, scope: Scope) -> EventLoopResponse | None:
        """Return the answer, if there is one.

        Only safe requests get one, and only if Django would not redirect them to https.
        """
        for path in self:
            if scope["path"].startswith(path.name) and scope["method"] in SAFE_METHODS:
                request = EventLoopRequest(scope)
                may_answer = request.is_secure or not settings.SECURE_SSL_REDIRECT
                return path.answer(request) if may_answer else None
        return None


event_loop_routes = EventLoopRoutes(
    "paths answered on the event loop",
    called=(
        "the web server calls the first that fits a request's path on its event loop, before Django "
        "(`EventLoopRoutes.answer`)"
    ),
    transaction="none; it may not use the database",
    failure="reaches the ASGI server, which answers 500",
)
