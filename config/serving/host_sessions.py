"""A session belongs to the host on which it began: an agency's hosts, or the installation's own.

The same cookie on another agency's host is nobody's. The session itself stays where it is: it can neither be read from
there, nor ended.
"""

from functools import lru_cache
from typing import Any

from django.contrib.sessions.backends.base import SessionBase

# The id of the agency whose host it is, in the session's own data. None there, or nothing, is the installation's.
HOST_AGENCY = "host_agency"


class HostSession(SessionBase):
    """What a session store is given in front of it."""

    host_agency_id: int | None = None

    def load(self) -> dict[str, Any]:
        """Read the session; another host's reads like one that has ended."""
        data = super().load()
        if self.session_key and data.pop(HOST_AGENCY, None) != self.host_agency_id:
            self._session_key = None
            return {}
        return data

    def encode(self, session_dict: dict[str, Any]) -> str:
        return super().encode({**session_dict, HOST_AGENCY: self.host_agency_id})

    def flush(self) -> None:
        """End the session, once it is sure that it is this host's."""
        self._get_session()  # type: ignore[attr-defined]  # Django's own, behind every way to read
        super().flush()


@lru_cache(maxsize=4)
def host_bound(store: type[SessionBase]) -> type[HostSession]:
    """Give a store of the same sessions, each of which is good for one host."""
    return type("SessionStore", (HostSession, store), {"__doc__": HostSession.__doc__})
