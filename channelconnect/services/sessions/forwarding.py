"""Forwards the provider's response from the installation's host, where it is registered, to the agency's own host.

The browser carries the response encrypted. If we no longer serve the agency's host, its new server learns no code.
"""

import json
from typing import Final
from urllib.parse import urlencode

from cryptography.fernet import InvalidToken

from agency.services.hosts import agency_of_host, url_of_host
from channelconnect.models import ConnectSession
from channelconnect.services.sessions.flow import AuthorizationResponse
from config.encryption import keyring

PARAMETER: Final = "response"
LASTS_SECONDS: Final = 300
KIND: Final = "authorization_response"


def forwarding_address(session: ConnectSession, response: AuthorizationResponse, *, path: str) -> str | None:
    """Return the address that takes the response to the session's host; None if it began on the installation's host.

    A host that the agency no longer has would not send us the cookie, so its session cannot go on.
    """
    if not session.host or agency_of_host(session.host) != session.agency_id:
        return None
    told = json.dumps([KIND, response.state, response.code, response.is_declined])
    sealed = keyring().encrypt(told.encode()).decode()
    return f"{url_of_host(session.host)}{path}?{urlencode({PARAMETER: sealed})}"


def forwarded_response(sealed: str) -> AuthorizationResponse | None:
    """Decrypt the response that `forwarding_address` sealed, for a few minutes; None for anything else."""
    try:
        kind, state, code, is_declined = json.loads(keyring().decrypt(sealed.encode(), ttl=LASTS_SECONDS))
    except (InvalidToken, ValueError, TypeError):
        return None
    return AuthorizationResponse(state, code, is_declined=is_declined) if kind == KIND else None
