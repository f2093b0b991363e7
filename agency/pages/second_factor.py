"""Whether a code was shown in this session, and what people see where two-factor is required and they have none."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

# In the session: a code was shown when it began, or when two-factor was switched on in it.
CODE_SHOWN = "two_factor"


def has_shown_code(request: HttpRequest) -> bool:
    return bool(request.session.get(CODE_SHOWN))


def lead_to_set_up(request: HttpRequest, *, name: str, back: str) -> HttpResponse:
    """Say that `name` requires two-factor; it is set up from there, and afterwards the way leads to `back`."""
    return render(request, "account/security/required.html", {"name": name, "next": back}, status=403)
