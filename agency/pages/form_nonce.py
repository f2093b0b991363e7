"""Forms that count once: they make what must not be made twice, so neither a reload nor a double click repeats them."""

import secrets

from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest

SESSION_KEY = "form_nonces"
MOST_OPEN = 20


def new_nonce(request: HttpRequest) -> str:
    """Give a nonce to a form that is about to be shown."""
    nonce = secrets.token_urlsafe(16)
    request.session[SESSION_KEY] = [*request.session.get(SESSION_KEY, []), nonce][-MOST_OPEN:]
    return nonce


def use_nonce(request: HttpRequest, nonce: str) -> bool:
    """Use a form's nonce up; False when it was used before. Of two submissions at once exactly one gets True."""
    with transaction.atomic():
        row = Session.objects.select_for_update().filter(session_key=request.session.session_key).first()
        stored = row.get_decoded() if row else {}
        nonces: list[str] = stored.get(SESSION_KEY, [])
        is_unused = nonce in nonces
        left = [one for one in nonces if one != nonce]
        if row and is_unused:
            row.session_data = Session.objects.encode({**stored, SESSION_KEY: left})
            row.save(update_fields=["session_data"])
    request.session[SESSION_KEY] = left
    return is_unused
