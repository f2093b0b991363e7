"""Answers that the web server gives on its event loop, without Django and without a thread, where they must be cheap.

An app declares the paths below which it may answer so. What it cannot answer from memory goes the usual way.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings

from config.api.requests.clients import is_trusted_peer
from config.hooks import Registry

RawHeaders = list[tuple[bytes, bytes]]
SAFE_METHODS: Final = frozenset({"GET", "HEAD"})


class LoopRequest:
    """A request as the server heard it; header names are in lower case."""

    def __init__(self, scope: Mapping[str, Any]) -> None:
        self.scope = scope
        self.headers: dict[bytes, bytes] = dict(scope["headers"])

    @property
    def path(self) -> str:
        path: str = self.scope["path"]
        return path

    @property
    def method(self) -> str:
        method: str = self.scope["method"]
        return method

    def header(self, name: bytes) -> str:
        return self.headers.get(name, b"").decode("latin-1")

    @property
    def is_secure(self) -> bool:
        """Whether the client speaks https: to us, or to a proxy that the installation trusts."""
        if self.scope["scheme"] == "https":
            return True
        is_said = self.headers.get(b"x-forwarded-proto") == b"https"
        return is_said and is_trusted_peer((self.scope.get("client") or ("",))[0])


@dataclass(frozen=True, slots=True)
class LoopAnswer:
    """An answer without a body. `afterwards` is done in a thread with a database connection; nobody waits for it.

    It says whether something is left to do, and is then done again after a moment. `is_installations` says that the
    host is one of the installation's: there https is promised as Django promises it.
    """

    status: int
    headers: RawHeaders
    is_installations: bool
    afterwards: Callable[[], bool] | None = None


@dataclass(frozen=True, slots=True)
class LoopPath:
    """What answers below `name`, a path that ends in a slash; it may wait for nothing. None goes the usual way."""

    name: str
    answer: Callable[[LoopRequest], LoopAnswer | None]


class LoopPaths(Registry[LoopPath]):
    """The paths of all apps."""

    def answer(self, scope: Mapping[str, Any]) -> LoopAnswer | None:
        """Give the answer where there is one: to a safe request that Django would not lead to https first."""
        for path in self:
            if scope["path"].startswith(path.name) and scope["method"] in SAFE_METHODS:
                request = LoopRequest(scope)
                may_answer = request.is_secure or not settings.SECURE_SSL_REDIRECT
                return path.answer(request) if may_answer else None
        return None


loop_paths = LoopPaths("paths answered on the event loop")
