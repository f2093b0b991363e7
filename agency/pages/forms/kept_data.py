"""What somebody typed when their session had ended: kept until they have signed in, then shown to them again.

Nothing is done with it meanwhile, and nothing is done until the person sends the form once more. It is kept only where
the form holds a nonce that we signed, and given back only to the person for whom it was signed, in the same agency or
workspace. Passwords, secrets and files are never kept.
"""

import re
import time
from dataclasses import asdict, dataclass

from django.http import HttpRequest, QueryDict

from agency.pages.forms.nonce import FIELD, read_nonce

SESSION_KEY = "kept_form_data"
SECONDS = 3600
MOST_CHARACTERS = 32 * 1024
CSRF = "csrfmiddlewaretoken"
SECRET = re.compile(r"password|secret|token", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KeptFormData:
    """A form as it was sent to `address` by `user`; `made_for` is the agency or workspace that it was about."""

    address: str
    user: int
    made_for: str
    at: float
    encoded: str

    @property
    def data(self) -> QueryDict:
        return QueryDict(self.encoded)


def keep_form_data(request: HttpRequest) -> bool:
    """Keep what was typed, and say whether there was anything to keep."""
    nonce = read_nonce(request.POST.get(FIELD, ""))
    if nonce is None or (request.user.is_authenticated and request.user.pk != nonce.user):
        return False
    typed = QueryDict(mutable=True)
    for name, values in request.POST.lists():
        if name != CSRF and not SECRET.search(name):
            typed.setlist(name, values)
    encoded = typed.urlencode()
    if len(encoded) > MOST_CHARACTERS:
        return False
    kept = KeptFormData(request.path, nonce.user, request.POST.get("made_for", ""), time.time(), encoded)
    request.session[SESSION_KEY] = asdict(kept)
    if not request.user.is_authenticated:
        request.session.set_expiry(SECONDS)
    return True


def kept_form_data(request: HttpRequest) -> KeptFormData | None:
    """Give what this person typed into the form at this address; what is another's or too old is forgotten."""
    stored = request.session.get(SESSION_KEY)
    if stored is None:
        return None
    request.session.set_expiry(None)
    kept = KeptFormData(**stored)
    if kept.user != request.user.pk or kept.at < time.time() - SECONDS:
        forget_form_data(request)
        return None
    return kept if kept.address == request.path else None


def forget_form_data(request: HttpRequest) -> None:
    request.session.pop(SESSION_KEY, None)
