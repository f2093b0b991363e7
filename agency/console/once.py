"""Forms that count once: they make what must not be made twice, so neither a reload nor a double click repeats them."""

import secrets

from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest

OPEN_FORMS = "open_forms"
MOST_OPEN = 20


def open_form(request: HttpRequest) -> str:
    """Give a ticket for a form that is about to be shown."""
    ticket = secrets.token_urlsafe(16)
    request.session[OPEN_FORMS] = [*request.session.get(OPEN_FORMS, []), ticket][-MOST_OPEN:]
    return ticket


def spend_ticket(request: HttpRequest, ticket: str) -> bool:
    """Use a form's ticket up; False when it was used before. Of two submissions at once exactly one gets True."""
    with transaction.atomic():
        row = Session.objects.select_for_update().filter(session_key=request.session.session_key).first()
        kept = row.get_decoded() if row else {}
        tickets: list[str] = kept.get(OPEN_FORMS, [])
        is_open = ticket in tickets
        left = [one for one in tickets if one != ticket]
        if row and is_open:
            row.session_data = Session.objects.encode({**kept, OPEN_FORMS: left})
            row.save(update_fields=["session_data"])
    request.session[OPEN_FORMS] = left
    return is_open
