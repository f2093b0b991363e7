"""The session engine: Django's database sessions, whose rows also name the person and where they signed in.

The session's data keep these facts under `SIGN_IN`, so that they survive every change of the session's key.
"""

from datetime import datetime, timedelta
from typing import Any, TypedDict, cast

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessionStore
from django.db.models.functions import Now
from django.utils import timezone

from agency.models import UserSession

SIGN_IN = "sign_in"
SEEN_EVERY = timedelta(minutes=5)


class SignInFacts(TypedDict):
    """The facts of a sign-in: when (ISO 8601), from which network address, in which browser, on which agency's host."""

    at: str
    address: str
    browser: str
    agency: int | None


class SessionStore(DatabaseSessionStore):
    """Stamps a session's last use while reading it, at most once in five minutes."""

    @classmethod
    def get_model_class(cls) -> type[UserSession]:
        return UserSession

    def load(self) -> dict[str, Any]:
        row: UserSession | None = self._get_session_from_db()  # type: ignore[attr-defined]  # missing in the stubs
        if row is None:
            return {}
        if row.user_id and row.last_seen_at < timezone.now() - SEEN_EVERY:
            idle = UserSession.objects.filter(pk=row.pk, last_seen_at__lt=Now() - SEEN_EVERY)
            idle.update(last_seen_at=Now())
        return self.decode(row.session_data)

    def create_model_instance(self, data: dict[str, Any]) -> UserSession:
        """Return the row, filled with the person and the sign-in that the data name."""
        row = cast(UserSession, super().create_model_instance(data))
        if SESSION_KEY in data:
            row.user_id = int(data[SESSION_KEY])
        facts: SignInFacts | None = data.get(SIGN_IN)
        if facts and SESSION_KEY in data:
            row.signed_in_at = datetime.fromisoformat(facts["at"])
            row.address, row.browser, row.agency_id = facts["address"], facts["browser"], facts["agency"]
        return row
