"""What somebody typed when their session had ended: kept until they have signed in, then shown to them again.

Nothing is done with it meanwhile, and nothing is done until the person sends the form once more. It is kept only where
the form holds a nonce that we signed, and given back only to the person for whom it was signed, in the browser that
sent it, in the same agency or workspace. Passwords, secrets and files are never kept.

It stands in Redis, encrypted, for an hour: so many forms of a person and no more, also when strangers send them. A
cookie names the browser.
A form that comes in without a session makes no session.
"""

import json
import re
import secrets
import time
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from cryptography.fernet import InvalidToken
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.utils.translation import gettext_lazy as _

from agency.pages.forms.nonce import FIELD, read_nonce
from agency.pages.registry import StrOrPromise
from config.encryption import keyring
from config.redis import RedisAway, attempt

SECONDS: Final = 3600
# As large as a body that is read from somebody who has not signed in (`config/serving/bodies.py`).
MOST_CHARACTERS: Final = 256 * 1024
MOST_FORMS: Final = 6
CSRF = "csrfmiddlewaretoken"
MADE_FOR = "made_for"
SECRET = re.compile(r"password|secret|token", re.IGNORECASE)
TOKEN = re.compile(r"[\w-]{22}")
# In the address of the sign-in page: what became of the form that somebody sent.
PARAMETER: Final = "signed_out"
LOOK_THROUGH = _(
    "You were signed out before this was sent. Nothing was done yet: look through what you typed and send it."
)
# Fields of small forms on other pages, whose values are shown again beside the button that sends them.
READABLE: Final = frozenset({"name", "until"})
# In `request.META`: the name that a browser is given with the answer.
NEW_BROWSER: Final = "agency.kept_form_browser"
NOT_SENT = _("This was not sent. Nothing was done yet: look through what you typed and send it.")
FILE_AGAIN = _("The file was not kept: choose it again.")


class Outcome(StrEnum):
    """What became of what was typed."""

    KEPT = "kept"
    NOT_KEPT = "not-kept"
    NOTHING_TYPED = "nothing-typed"


SIGNED_OUT: Final[Mapping[str, StrOrPromise]] = {
    Outcome.KEPT: _("You were signed out. Nothing was done: sign in, and what you typed is there again."),
    Outcome.NOT_KEPT: _(
        "You were signed out. Nothing was done, and what you typed could not be kept, perhaps because a large file "
        "came with it. If your browser still shows it when you go back, copy it. Then sign in and send it again."
    ),
    Outcome.NOTHING_TYPED: _("You were signed out. Nothing was done: sign in and try again."),
}


@dataclass(frozen=True, slots=True)
class KeptFormData:
    """A form as `user` sent it to the address `sent_to`; it stands on the page at the path `page`.

    `made_for` is the agency or workspace that it was about.
    """

    page: str
    sent_to: str
    user: int
    made_for: str
    at: float
    had_file: bool
    was_signed_in: bool
    encoded: str

    @property
    def data(self) -> QueryDict:
        return QueryDict(self.encoded)

    @property
    def fields(self) -> list[tuple[str, str]]:
        """What was typed and chosen, without what every form of ours holds."""
        own = {MADE_FOR, FIELD}
        return [(name, one) for name, values in self.data.lists() if name not in own for one in values]

    @property
    def texts(self) -> list[str]:
        """Those of the fields that a person can read: ids and addresses of our own say nothing to them."""
        return [value for name, value in self.fields if name in READABLE and value]


def keep_form_data(request: HttpRequest, page: str, *, was_signed_in: bool = False) -> Outcome:
    """Keep what was typed into a form that stands at the address `page`, and say what became of it."""
    nonce = read_nonce(request.POST.get(FIELD, ""))
    if nonce is None or (request.user.is_authenticated and request.user.pk != nonce.user):
        return Outcome.NOT_KEPT
    encoded = _typed(request).urlencode()
    if len(encoded) > MOST_CHARACTERS:
        return Outcome.NOT_KEPT
    kept = KeptFormData(
        page=urlsplit(page).path,
        sent_to=request.get_full_path(),
        user=nonce.user,
        made_for=request.POST.get(MADE_FOR, ""),
        at=time.time(),
        had_file=bool(request.FILES),
        was_signed_in=was_signed_in,
        encoded=encoded,
    )
    try:
        attempt(lambda redis: _store(redis, kept, _field(_new_browser(request), kept.page, kept.sent_to)))
    except RedisAway:
        return Outcome.NOT_KEPT
    return Outcome.KEPT


def answer_signed_out(request: HttpRequest, *, page: str, keeps: bool) -> HttpResponse:
    """Lead somebody whose session has ended to the sign-in page, and from there back to the page with their form."""
    outcome = keep_form_data(request, page) if keeps else Outcome.NOTHING_TYPED
    response = lead_to_sign_in(page, outcome)
    remember_browser(request, response)
    return response


def lead_to_sign_in(page: str, outcome: Outcome) -> HttpResponse:
    response = redirect_to_login(page)
    response.headers["Location"] += f"&{urlencode({PARAMETER: outcome.value})}"
    return response


def remember_browser(request: HttpRequest, response: HttpResponseBase) -> None:
    """Have the browser name itself for as long as its forms are kept."""
    if request.META.get(NEW_BROWSER):
        response.set_cookie(
            settings.KEPT_FORM_COOKIE_NAME,
            request.META[NEW_BROWSER],
            max_age=SECONDS,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )


def kept_form_data(request: HttpRequest, *sent_to: str) -> KeptFormData | None:
    """Give what this person typed last into a form of the page at this address, here in this browser.

    With `sent_to`, only what was sent to one of these paths.
    """
    try:
        found = attempt(lambda redis: _stored(redis, request))
    except RedisAway:
        return None
    kept = [one for one in found if not sent_to or urlsplit(one.sent_to).path in sent_to]
    return max(kept, key=lambda one: one.at, default=None)


def take_form_data(request: HttpRequest, *sent_to: str) -> KeptFormData | None:
    """Give what was typed and forget it; a notice says that nothing was done yet."""
    kept = kept_form_data(request, *sent_to)
    if kept is None:
        return None
    forget_form_data(request, kept)
    messages.info(request, NOT_SENT if kept.was_signed_in else LOOK_THROUGH)
    if kept.had_file:
        messages.warning(request, FILE_AGAIN)
    return kept


def forget_form_data(request: HttpRequest, kept: KeptFormData) -> None:
    field = _field(_browser(request), kept.page, kept.sent_to)
    try:
        attempt(lambda redis: redis.hdel(_key(kept.user), field))
    except RedisAway:
        return


def _typed(request: HttpRequest) -> QueryDict:
    typed = QueryDict(mutable=True)
    for name, values in request.POST.lists():
        if name != CSRF and not SECRET.search(name):
            typed.setlist(name, values)
    return typed


def _browser(request: HttpRequest) -> str:
    """Give the browser's name for itself; empty where it has none."""
    named = request.COOKIES.get(settings.KEPT_FORM_COOKIE_NAME, "")
    return named if TOKEN.fullmatch(named) else ""


def _new_browser(request: HttpRequest) -> str:
    """Give the name under which a form of this browser is kept; its cookie is to last as long as the form."""
    name: str = request.META.setdefault(NEW_BROWSER, _browser(request) or secrets.token_urlsafe(16))
    return name


def _key(user: int) -> str:
    return f"kept-forms:{user}"


def _field(browser: str, page: str, sent_to: str) -> str:
    """Name one form of a browser: sent a second time, it replaces the first."""
    return f"{browser} {page} {urlsplit(sent_to).path}"


def _store(redis: Any, kept: KeptFormData, field: str) -> None:
    key, packed = _key(kept.user), keyring().encrypt(zlib.compress(json.dumps(asdict(kept)).encode()))
    with redis.pipeline() as pipeline:
        pipeline.hset(key, field, packed).expire(key, SECONDS).hlen(key)
        *_done, number = pipeline.execute()
    if number > MOST_FORMS:
        ages = {name: found.at if (found := _unpacked(packed)) else 0 for name, packed in redis.hgetall(key).items()}
        redis.hdel(key, *sorted(ages, key=lambda name: ages[name])[:-MOST_FORMS])


def _stored(redis: Any, request: HttpRequest) -> list[KeptFormData]:
    browser = _browser(request)
    if not browser or not request.user.is_authenticated:
        return []
    key, beginning = _key(request.user.pk), _field(browser, request.path, "").encode()
    fields = [name for name in redis.hkeys(key) if name.startswith(beginning)]
    found = [_unpacked(packed) for packed in redis.hmget(key, fields) if packed] if fields else []
    return [one for one in found if one and one.at > time.time() - SECONDS]


def _unpacked(packed: bytes) -> KeptFormData | None:
    """Read a form; None for one that was encrypted with a key that is no longer there."""
    try:
        return KeptFormData(**json.loads(zlib.decompress(keyring().decrypt(packed))))
    except InvalidToken:
        return None
