"""Ends people's sessions from elsewhere."""

from django.db import transaction

from agency.actors import Actor
from agency.models import User, UserSession
from agency.services.activity import record_activity


def end_sessions(*, user: User, keep: str | None = None) -> int:
    """End every session of a person but the one with the key `keep`; return how many ended."""
    ended, _ = UserSession.objects.filter(user=user).exclude(session_key=keep or "").delete()
    return ended


@transaction.atomic
def end_other_sessions(*, user: User, keep: str, by: Actor) -> int:
    """Sign a person out everywhere but where they ask for it; return how many sessions ended."""
    ended = end_sessions(user=user, keep=keep)
    if ended:
        _record(user, by, ended)
    return ended


@transaction.atomic
def end_session(*, user: User, key: str, by: Actor) -> bool:
    """Sign a person out of one browser; return False if that session has ended already."""
    ended, _ = UserSession.objects.filter(user=user, session_key=key).delete()
    if ended:
        _record(user, by, ended)
    return bool(ended)


def _record(user: User, by: Actor, number: int) -> None:
    target = ("user", user.pk, user.email)
    record_activity(by=by, action="session.ended", agency_id=None, target=target, details={"number": number})
