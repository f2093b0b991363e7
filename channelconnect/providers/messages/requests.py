"""The address and headers of the call that sends a message."""

import hashlib
import hmac
from typing import NamedTuple

from channelconnect.providers.settings import ProviderSettings


class MessagesEndpoint(NamedTuple):
    """The address for a channel's messages. The token is in a header, and its proof in the address."""

    url: str
    headers: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        return "MessagesEndpoint()"


def messages_endpoint(settings: ProviderSettings, *, sender_id: str, token: str) -> MessagesEndpoint:
    """Return the messages endpoint of a number or a Page, whose id is `sender_id`."""
    proof = proof_of(settings.app_secret, token)
    url = f"{settings.graph_url}/{settings.version}/{sender_id}/messages?appsecret_proof={proof}"
    headers = (
        ("Authorization", f"Bearer {token}"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json"),
    )
    return MessagesEndpoint(url, headers)


def proof_of(app_secret: str, token: str) -> str:
    """Return the proof that the token's bearer is the app."""
    return hmac.new(app_secret.encode(), token.encode(), hashlib.sha256).hexdigest()
