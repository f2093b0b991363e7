"""Error codes of failed connect sessions, and what the customer and the agency read about them."""

from typing import Final

ERROR_CODES: Final[dict[str, str]] = {
    "authorization_not_completed": "The consent was declined or closed.",
    "required_permissions_missing": "A permission that messaging needs was not given.",
    "no_eligible_accounts": "There was no number, Page or linked professional account to connect.",
    "account_already_connected_elsewhere": "This account is connected to another workspace.",
    "channel_limit_reached": "The plan has no room for another channel of this kind.",
    "reconnection_target_mismatch": "Another account than the connected one was chosen.",
    "subscription_failed": "The provider refused to send this account's messages to us.",
    "credentials_expired": "The provider's authorization ended before an account was chosen.",
    "token_exchange_failed": "The provider did not complete the authorization.",
    "asset_discovery_incomplete": "There are too many accounts to list.",
    "provider_request_failed": "The provider rejected a request.",
    "provider_unavailable": "The provider could not be reached.",
    "provider_not_configured": "Connecting this platform is not set up on our side.",
    "session_expired": "30 minutes passed before the connection was finished.",
}
