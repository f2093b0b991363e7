"""Limits how many large bodies are under way, and says how the server asks whether to read one.

The server asks before it reads any of a body that does not stay in memory. The request runs through Django's middleware
without its body, and `config.serving.admission` says whether the body is wanted. If it is not, Django's refusal is the
answer.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from django.conf import settings

from config.api.requests.clients import address_bucket_of, client_address_of
from config.request_bodies import ADMITTED, BodyRule

ASKS: Final = "config.asks_for_body"
# Limits for one sender (a session, a key), one address and one process.
MOST_KNOWN: Final = (4, 16, 32)
MOST_OF_STRANGERS: Final = (4, 4, 32)


def is_admitted(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether an answer tells the server to read the body and to ask again with it."""
    return any(name == ADMITTED.lower().encode() for name, _ in headers)


class TooManyBodies(Exception):
    """The sender, the address or the process has too many large bodies under way."""


class LargeBodies:
    """Counts the large bodies under way in this process, on its event loop."""

    def __init__(self) -> None:
        self._under_way: Counter[tuple[str, ...]] = Counter()

    @contextmanager
    def one_more(self, rule: BodyRule, environ: Mapping[str, Any]) -> Iterator[None]:
        """Count one body until the block ends. Raises `TooManyBodies`."""
        is_known = rule.signed_in or bool(rule.headers)
        kind, most = ("known", MOST_KNOWN) if is_known else ("strangers", MOST_OF_STRANGERS)
        address = address_bucket_of(client_address_of(environ))
        sender = (kind, "sender", _sender(environ, rule) or address)
        counted = (sender, (kind, "address", address), (kind, "process"))
        if any(self._under_way[one] >= limit for one, limit in zip(counted, most, strict=True)):
            raise TooManyBodies
        self._under_way.update(counted)
        try:
            yield
        finally:
            self._under_way.subtract(counted)
            self._under_way += Counter()  # drops senders that have none left


def _sender(environ: Mapping[str, Any], rule: BodyRule) -> str:
    """Return what identifies a sender: the header that the path needs, else the session's cookie."""
    for header in rule.headers:
        value = environ.get(f"HTTP_{header.decode().upper().replace('-', '_')}")
        if value:
            return str(value)
    cookies = str(environ.get("HTTP_COOKIE", "")).split(";")
    return next((one.strip() for one in cookies if one.strip().startswith(f"{settings.SESSION_COOKIE_NAME}=")), "")
