"""The page of an ended session: its outcome, and where and when the browser returns."""

from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from channelconnect.models import ConnectSession
from channelconnect.models.sessions import OPEN, Status
from channelconnect.services import build_return_url, return_host, status_at

Message = tuple[str | Promise, str | Promise]

# The time that people have to read an error before the browser returns by itself.
READING_SECONDS = 10
# Ends that tell the customer nothing new: it worked, or the agency or the customer cancelled.
NOTHING_TO_READ = (None, "authorization_not_completed")

STATUS_MESSAGES: dict[str, Message] = {
    Status.CONNECTED: (_("Connected"), _("Messages can now come in and go out through it.")),
    Status.CANCELLED: (_("Cancelled"), _("Nothing was connected.")),
    Status.EXPIRED: (
        _("This took too long"),
        _("A connection must be finished within 30 minutes. Ask for a new link."),
    ),
    Status.FAILED: (_("This did not work"), _("Nothing was connected. Ask for a new link and try again.")),
}
ERROR_MESSAGES: dict[str, Message] = {
    "authorization_not_completed": (
        _("Cancelled"),
        _("You did not agree, so nothing was connected. You can ask for a new link at any time."),
    ),
    "required_permissions_missing": (
        _("A permission is missing"),
        _(
            "Sending and receiving messages needs every permission that was asked for. Ask for a new link "
            "and leave all of them ticked."
        ),
    ),
    "no_eligible_accounts": (
        _("There is nothing to connect"),
        _(
            "We found no number, Page or linked professional account that you may use for messages. Check that you "
            "signed in as the right person and that you manage the account."
        ),
    ),
    "account_already_connected_elsewhere": (
        _("This account is in use"),
        _("It is connected to another workspace. Disconnect it there first, or choose another account."),
    ),
    "channel_limit_reached": (
        _("There is no room for another channel"),
        _(
            "The plan of this workspace allows no more channels of this kind. Whoever sent you the link can "
            "change that."
        ),
    ),
    "reconnection_target_mismatch": (
        _("This was another account"),
        _("To reconnect, choose the very account that was connected before. Ask for a new link and try again."),
    ),
    "subscription_failed": (
        _("The messages could not be switched on"),
        _("The provider refused to send us this account's messages. Check that you are its administrator."),
    ),
    "credentials_expired": (
        _("Your sign-in has ended"),
        _("The provider ended your sign-in before an account was chosen. Ask for a new link and try again."),
    ),
    "token_exchange_failed": (
        _("The sign-in was not completed"),
        _("The provider did not complete your sign-in. Ask for a new link and try again."),
    ),
    "asset_discovery_incomplete": (
        _("There are too many accounts"),
        _(
            "You manage more accounts than can be listed. When you are asked, allow only the one that "
            "you want to connect."
        ),
    ),
    "provider_request_failed": (
        _("The provider refused"),
        _("The provider rejected a request. Wait a few minutes, then ask for a new link and try again."),
    ),
    "provider_unavailable": (
        _("The provider cannot be reached"),
        _("Wait a few minutes, then ask for a new link and try again."),
    ),
    "provider_not_configured": (
        _("This cannot be connected yet"),
        _("Connecting this platform is not set up on our side. Whoever sent you the link should ask our support."),
    ),
    "session_expired": STATUS_MESSAGES[Status.EXPIRED],
}


def address_to_leave_for(session: ConnectSession, now: datetime) -> str | None:
    """Return the address for an immediate return; None while the session is open or its end is worth reading."""
    status, code = status_at(session, now)
    return build_return_url(session) if status not in OPEN and code in NOTHING_TO_READ else None


def outcome_context(session: ConnectSession, now: datetime, *, is_bound: bool) -> dict[str, Any]:
    """Return the texts for an ended session, its button's address, and the seconds until the browser returns.

    A browser that is not bound may be a stranger's, or a link preview. It gets no `state` and does not return by
    itself.
    """
    status, code = status_at(session, now)
    title, text = ERROR_MESSAGES.get(code or "", STATUS_MESSAGES[status])
    return_url = build_return_url(session, has_state=is_bound)
    returns_by_itself = bool(return_url and is_bound and code not in NOTHING_TO_READ)
    return {
        "code": code,
        "title": title,
        "text": text,
        "return_url": return_url,
        "return_host": return_host(session),
        "return_seconds": READING_SECONDS if returns_by_itself else None,
    }
