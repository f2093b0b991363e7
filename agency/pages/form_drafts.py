"""Form data sent after a session's end: kept until the person has signed in, then shown to them again.

Nothing is changed until the person sends the form once more. Data is kept only if the form holds a nonce that we
signed. It is given back only to the person for whom the nonce was signed, in the browser that sent the form, in the
same agency or workspace. Passwords, secrets and files are never kept.

Redis keeps the data, encrypted, for an hour, and at most `MOST_FORMS` forms of a person, even if strangers send more. A
cookie names the browser. A form that comes in without a session creates no session.
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

from agency.pages.forms import NONCE_FIELD, read_nonce
from agency.pages.registry import StrOrPromise
from config.encryption import keyring
from config.redis import RedisUnavailable, call_redis

SECONDS: Final = 3600
# As large as the largest body that is read from people who have not signed in (`config/serving/bodies.py`).
MOST_CHARACTERS: Final = 256 * 1024
MOST_FORMS: Final = 6
CSRF = "csrfmiddlewaretoken"
MADE_FOR = "made_for"
SECRET = re.compile(r"password|secret|token", re.IGNORECASE)
TOKEN = re.compile(r"[\w-]{22}")
# Query parameter of the sign-in page: the outcome of the form that was sent.
OUTCOME_PARAMETER: Final = "signed_out"
LOOK_THROUGH = _(
    "You were signed out before this was sent. Nothing has been done yet. Check your entries and send them."
)
# Fields of small forms on other pages; their values are shown beside the button that sends the form again.
READABLE: Final = frozenset({"name", "until"})
# Key in `request.META`: the name that the browser gets with the response.
NEW_BROWSER: Final = "agency.kept_form_browser"
NOT_SENT = _("This was not sent. Nothing has been done yet. Check your entries and send them.")
FILE_AGAIN = _("The file was not kept. Choose it again.")


class DraftOutcome(StrEnum):
    """What happened to the data that was typed."""

    KEPT = "kept"
    NOT_KEPT = "not-kept"
    NOTHING_TYPED = "nothing-typed"


SIGNED_OUT: Final[Mapping[str, StrOrPromise]] = {
    DraftOutcome.KEPT: _("You were signed out, and nothing was done. Sign in, and you will find your entries again."),
    DraftOutcome.NOT_KEPT: _(
        "You were signed out. Nothing was done, and your entries could not be kept, perhaps because a large file came "
        "with them. If your browser still shows them when you go back, copy them. Then sign in and send them again."
    ),
    DraftOutcome.NOTHING_TYPED: _("You were signed out, and nothing was done. Sign in and try again."),
}


@dataclass(frozen=True, slots=True)
class FormDraft:
    """A form that `user` sent to the address `sent_to`, from the page at the path `page`.

    `made_for` is the agency or workspace that the form was for.
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
        """The typed and chosen values, without the fields that every form of ours holds."""
        own = {MADE_FOR, NONCE_FIELD}
        return [(name, one) for name, values in self.data.lists() if name not in own for one in values]

    @property
    def texts(self) -> list[str]:
        """The values that a person can read, without ids and addresses of ours."""
        return [value for name, value in self.fields if name in READABLE and value]


def save_form_draft(request: HttpRequest, page: str, *, was_signed_in: bool = False) -> DraftOutcome:
    """Keep what was typed into a form on the page at the address `page`; return the outcome."""
    nonce = read_nonce(request.POST.get(NONCE_FIELD, ""))
    if nonce is None or (request.user.is_authenticated and request.user.pk != nonce.user):
        return DraftOutcome.NOT_KEPT
    encoded = _typed(request).urlencode()
    if len(encoded) > MOST_CHARACTERS:
        return DraftOutcome.NOT_KEPT
    kept = FormDraft(
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
        call_redis(lambda redis: _store(redis, kept, _field(_new_browser(request), kept.page, kept.sent_to)))
    except RedisUnavailable:
        return DraftOutcome.NOT_KEPT
    return DraftOutcome.KEPT


def answer_signed_out(request: HttpRequest, *, page: str, keeps: bool) -> HttpResponse:
    """Send a person whose session has ended to the sign-in page, and from there back to the page with their form."""
    outcome = save_form_draft(request, page) if keeps else DraftOutcome.NOTHING_TYPED
    response = redirect_to_sign_in(page, outcome)
    remember_browser(request, response)
    return response


def redirect_to_sign_in(page: str, outcome: DraftOutcome) -> HttpResponse:
    response = redirect_to_login(page)
    response.headers["Location"] += f"&{urlencode({OUTCOME_PARAMETER: outcome.value})}"
    return response


def remember_browser(request: HttpRequest, response: HttpResponseBase) -> None:
    """Set the cookie that names the browser, for as long as its forms are kept."""
    if request.META.get(NEW_BROWSER):
        response.set_cookie(
            settings.KEPT_FORM_COOKIE_NAME,
            request.META[NEW_BROWSER],
            max_age=SECONDS,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )


def latest_form_draft(request: HttpRequest, *sent_to: str) -> FormDraft | None:
    """Return what this person last typed into a form of the page at this address, in this browser.

    With `sent_to`, only forms that were sent to one of these paths.
    """
    try:
        found = call_redis(lambda redis: _stored(redis, request))
    except RedisUnavailable:
        return None
    kept = [one for one in found if not sent_to or urlsplit(one.sent_to).path in sent_to]
    return max(kept, key=lambda one: one.at, default=None)


def pop_form_draft(request: HttpRequest, *sent_to: str) -> FormDraft | None:
    """Return what was typed and forget it; a message says that nothing was done yet."""
    kept = latest_form_draft(request, *sent_to)
    if kept is None:
        return None
    delete_form_draft(request, kept)
    messages.info(request, NOT_SENT if kept.was_signed_in else LOOK_THROUGH)
    if kept.had_file:
        messages.warning(request, FILE_AGAIN)
    return kept


def delete_form_draft(request: HttpRequest, kept: FormDraft) -> None:
    field = _field(_browser(request), kept.page, kept.sent_to)
    try:
        call_redis(lambda redis: redis.hdel(_key(kept.user), field))
    except RedisUnavailable:
        return


def _typed(request: HttpRequest) -> QueryDict:
    typed = QueryDict(mutable=True)
    for name, values in request.POST.lists():
        if name != CSRF and not SECRET.search(name):
            typed.setlist(name, values)
    return typed


def _browser(request: HttpRequest) -> str:
    """Return the browser's name from its cookie; empty without one."""
    named = request.COOKIES.get(settings.KEPT_FORM_COOKIE_NAME, "")
    return named if TOKEN.fullmatch(named) else ""


def _new_browser(request: HttpRequest) -> str:
    """Return the name under which a form of this browser is kept; the cookie lasts as long as the form."""
    name: str = request.META.setdefault(NEW_BROWSER, _browser(request) or secrets.token_urlsafe(16))
    return name


def _key(user: int) -> str:
    return f"kept-forms:{user}"


def _field(browser: str, page: str, sent_to: str) -> str:
    """Name one form of a browser, so that sending it a second time replaces the first."""
    return f"{browser} {page} {urlsplit(sent_to).path}"


def _store(redis: Any, kept: FormDraft, field: str) -> None:
    key, packed = _key(kept.user), keyring().encrypt(zlib.compress(json.dumps(asdict(kept)).encode()))
    with redis.pipeline() as pipeline:
        pipeline.hset(key, field, packed).expire(key, SECONDS).hlen(key)
        *_done, number = pipeline.execute()
    if number > MOST_FORMS:
        ages = {name: found.at if (found := _unpacked(packed)) else 0 for name, packed in redis.hgetall(key).items()}
        redis.hdel(key, *sorted(ages, key=lambda name: ages[name])[:-MOST_FORMS])


def _stored(redis: Any, request: HttpRequest) -> list[FormDraft]:
    browser = _browser(request)
    if not browser or not request.user.is_authenticated:
        return []
    key, beginning = _key(request.user.pk), _field(browser, request.path, "").encode()
    fields = [name for name in redis.hkeys(key) if name.startswith(beginning)]
    found = [_unpacked(packed) for packed in redis.hmget(key, fields) if packed] if fields else []
    return [one for one in found if one and one.at > time.time() - SECONDS]


def _unpacked(packed: bytes) -> FormDraft | None:
    """Read a kept form; None if the key that encrypted it is no longer there."""
    try:
        return FormDraft(**json.loads(zlib.decompress(keyring().decrypt(packed))))
    except InvalidToken:
        return None
