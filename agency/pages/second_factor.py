"""Whether a code was shown in this session, and the page for people who must set up two-factor first."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

# Session key: a code was shown when the session began, or two-factor was switched on in it.
CODE_SHOWN = "two_factor"


def has_shown_code(request: HttpRequest) -> bool:
    return bool(request.session.get(CODE_SHOWN))


def lead_to_set_up(request: HttpRequest, *, name: str, back: str) -> HttpResponse:
    """Say that `name` requires two-factor, with a link to set it up that returns to `back` afterwards."""
    return render(request, "account/security/required.html", {"name": name, "next": back}, status=403)
