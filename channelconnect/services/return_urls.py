"""The customer's way back to the agency's own pages."""

from urllib.parse import quote, urlencode, urlsplit

from channelconnect.models import ConnectSession
from channelconnect.services.settings import settings_of


def build_return_url(session: ConnectSession) -> str | None:
    """The return URL with `connection_id` and `state`; None where it is no longer registered."""
    if session.return_url not in settings_of(session.agency).return_urls:
        return None
    query = {"connection_id": str(session.uuid)}
    if session.state is not None:
        query["state"] = session.state
    return f"{session.return_url}?{urlencode(query, quote_via=quote)}"


def return_host(session: ConnectSession) -> str:
    """Where the browser will return, as people read it."""
    return urlsplit(session.return_url).netloc
