"""The one module that speaks HTTP to a provider: bounded in time and size, on kept connections."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookiejar import DefaultCookiePolicy
from typing import Any, Final

import requests

from channelconnect.providers.graph.deadlines import Deadline, WatchedAdapter

# Its name, its content and its type.
UploadedFile = tuple[str, bytes, str]
CHUNK: Final = 16 * 1024
# Whatever lies between may forget an idle connection without a word; a code must not be lost on such a one.
LONGEST_IDLE: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds; `whole` bounds one call, `operation` all calls of one verb.

    `body` is bytes, `attempts` includes the first.
    """

    connect: float = 3.0
    read: float = 10.0
    whole: float = 15.0
    operation: float = 40.0
    body: int = 2 * 1024 * 1024
    attempts: int = 3
    pause: float = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    method: str
    url: str
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    form: Mapping[str, str] | None = field(default=None, repr=False)
    json: Mapping[str, Any] | None = field(default=None, repr=False)
    files: Mapping[str, UploadedFile] | None = field(default=None, repr=False)
    token: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


class NoReply(Exception):
    """Nothing usable came back; `reason` is one of our codes, for the provider's address may hold secrets."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Transport:
    """Follows no redirect, keeps no cookie, heeds no proxy or password file of the environment.

    Threads may share it.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        # Unasked for, no answer comes compressed: the cap on bytes is then a cap on memory.
        self._session.headers.update({"Accept": "application/json", "Accept-Encoding": "identity"})
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, WatchedAdapter())
        self._last_use = time.monotonic()

    def send(self, request: Request, *, seconds: float) -> Reply:
        """Send once and give the answer within the seconds. Raises `NoReply`."""
        self._leave_idle_connections()
        with Deadline(seconds) as deadline:
            try:
                reply = self._exchange(request)
            except requests.RequestException as error:
                # Their texts and chains quote whole addresses, with what is in them.
                raise NoReply(_reason(error, deadline)) from None
        if deadline.passed:
            raise NoReply("deadline")
        return reply

    def _exchange(self, request: Request) -> Reply:
        headers = {"Authorization": f"Bearer {request.token}"} if request.token else {}
        with self._session.request(
            request.method,
            request.url,
            params=request.params,
            data=request.form,
            json=request.json,
            files=request.files,
            headers=headers,
            timeout=(self.limits.connect, self.limits.read),
            allow_redirects=False,
            stream=True,
        ) as response:
            return Reply(response.status_code, response.headers, self._body(response))

    def _body(self, response: requests.Response) -> bytes:
        body = bytearray()
        for chunk in response.iter_content(CHUNK):
            body += chunk
            if len(body) > self.limits.body:
                raise NoReply("too_large")
        return bytes(body)

    def _leave_idle_connections(self) -> None:
        now = time.monotonic()
        if now - self._last_use > LONGEST_IDLE:
            self._session.close()
        self._last_use = now


def _reason(error: requests.RequestException, deadline: Deadline) -> str:
    if deadline.passed:
        return "deadline"
    if isinstance(error, requests.ConnectTimeout):
        return "connect_timeout"
    if isinstance(error, requests.Timeout):
        return "timeout"
    return "connection"
