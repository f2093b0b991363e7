"""Binds each session to the host on which it began: an agency's hosts, or the installation's own.

On another agency's host the same cookie counts as unknown. The session itself stays as it is, and cannot be read or
ended from there.
"""

from functools import lru_cache
from typing import Any

from django.contrib.sessions.backends.base import SessionBase

# The key of the agency's id in the session's data. None, or no id, stands for the installation.
HOST_AGENCY = "host_agency"


class HostSession(SessionBase):
    """Goes in front of a session store, so that each session is good for one host."""

    host_agency_id: int | None = None

    def load(self) -> dict[str, Any]:
        """Read the session. A session of another host reads like one that has ended."""
        data = super().load()
        if self.session_key and data.pop(HOST_AGENCY, None) != self.host_agency_id:
            self._session_key = None
            return {}
        return data

    def encode(self, session_dict: dict[str, Any]) -> str:
        return super().encode({**session_dict, HOST_AGENCY: self.host_agency_id})

    def flush(self) -> None:
        """End the session, but only if it belongs to this host."""
        self._get_session()  # type: ignore[attr-defined]  # Django's own, behind every way to read
        super().flush()


@lru_cache(maxsize=4)
def host_bound(store: type[SessionBase]) -> type[HostSession]:
    """Return a store of the same sessions in which each is good for one host."""
    return type("SessionStore", (HostSession, store), {"__doc__": HostSession.__doc__})
