"""The call that sends a message: where it goes and under which name."""

import hashlib
import hmac
from functools import lru_cache
from typing import NamedTuple

import orjson

from channelconnect.providers.messages.bodies import Body
from channelconnect.providers.settings import ProviderSettings


class MessagesRequest(NamedTuple):
    """A POST; the token stands in a header, its proof in the address."""

    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def __repr__(self) -> str:
        return "MessagesRequest()"


def messages_request(settings: ProviderSettings, *, sender_id: str, token: str, body: Body) -> MessagesRequest:
    """Address a body; `sender_id` is the number's or the Page's id."""
    proof = _proof(settings.app_secret, token)
    url = f"{settings.graph_url}/{settings.version}/{sender_id}/messages?appsecret_proof={proof}"
    headers = (
        ("Authorization", f"Bearer {token}"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json"),
    )
    return MessagesRequest(url, headers, orjson.dumps(body))


@lru_cache(maxsize=4096)
def _proof(app_secret: str, token: str) -> str:
    return hmac.new(app_secret.encode(), token.encode(), hashlib.sha256).hexdigest()
