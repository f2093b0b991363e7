"""The call that sends a message: where it goes and under which name."""

import hashlib
import hmac
from typing import NamedTuple

from channelconnect.providers.settings import ProviderSettings


class MessagesEndpoint(NamedTuple):
    """Where a channel's messages are posted; the token stands in a header, its proof in the address."""

    url: str
    headers: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        return "MessagesEndpoint()"


def messages_endpoint(settings: ProviderSettings, *, sender_id: str, token: str) -> MessagesEndpoint:
    """Give the messages edge of a number or a Page, whose id `sender_id` is."""
    proof = proof_of(settings.app_secret, token)
    url = f"{settings.graph_url}/{settings.version}/{sender_id}/messages?appsecret_proof={proof}"
    headers = (
        ("Authorization", f"Bearer {token}"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json"),
    )
    return MessagesEndpoint(url, headers)


def proof_of(app_secret: str, token: str) -> str:
    """Prove that who has the token is the app."""
    return hmac.new(app_secret.encode(), token.encode(), hashlib.sha256).hexdigest()
