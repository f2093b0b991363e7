"""Pages that refuse a form, kept for ten minutes so that they can be shown by GET.

A page is shown only to the browser and the person who sent the form, at one address and in one agency or workspace; its
key is made from all of these. Pages are encrypted. Their bytes are counted and bounded. Beyond a bound, or while Redis
is away, nothing is kept, and the caller answers as it would without this module.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from cryptography.fernet import InvalidToken
from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from config.api.requests import client_address, rate_limit_bucket
from config.encryption import keyring
from config.redis import RedisUnavailable, call_redis

SALT: Final = "agency.pages.forms.refused_pages"
SECONDS: Final = 600
MOST_BYTES: Final = 256 * 1024  # of one page, compressed
MOST_PAGES: Final = 16  # of one browser; the oldest is dropped
# Bytes that may be written in ten minutes. Pages of strangers take no space from pages of signed-in people.
BYTES_OF_ADDRESS: Final = 1024 * 1024
BYTES_OF_STRANGERS: Final = 8 * 1024 * 1024
BYTES_OF_PERSON: Final = 2 * 1024 * 1024
BYTES_OF_PEOPLE: Final = 32 * 1024 * 1024
OVERHEAD: Final = 1024  # what Redis needs besides the page: two names, an entry of a list, counters
LEVEL: Final = 3
# One script, so that nothing happens between the check of the bounds and the write of the page. A counter without an
# expiry gets one.
KEEP: Final = """
for place = 3, 4 do
  local used = tonumber(redis.call('GET', KEYS[place]) or '0')
  if used > 0 and redis.call('PTTL', KEYS[place]) < 0 then redis.call('PEXPIRE', KEYS[place], ARGV[3]) end
  if used + tonumber(ARGV[2]) > tonumber(ARGV[place + 2]) then return 0 end
end
for place = 3, 4 do
  if redis.call('INCRBY', KEYS[place], ARGV[2]) == tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[place], ARGV[3])
  end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
redis.call('LREM', KEYS[2], 0, KEYS[1])
redis.call('LPUSH', KEYS[2], KEYS[1])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
while redis.call('LLEN', KEYS[2]) > tonumber(ARGV[4]) do redis.call('DEL', redis.call('RPOP', KEYS[2])) end
return 1
"""
FORGET: Final = """
for place = 2, #KEYS do
  if redis.call('DEL', KEYS[place]) == 1 then redis.call('LREM', KEYS[1], 0, KEYS[place]) end
end
"""


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser, known by secrets that it alone has, and the person who has signed in there, if anybody has."""

    secrets: tuple[str, ...]
    user: int | None
    bucket: str

    @property
    def name(self) -> str:
        return _digest(*self.secrets, str(self.user))

    def limits(self) -> tuple[tuple[str, int], tuple[str, int]]:
        """Return the counters that a page counts in, each with its bound in bytes."""
        if self.user is None:
            return ("address:" + self.bucket, BYTES_OF_ADDRESS), ("strangers", BYTES_OF_STRANGERS)
        return (f"person:{self.user}", BYTES_OF_PERSON), ("people", BYTES_OF_PEOPLE)


@dataclass(frozen=True, slots=True)
class RefusedPage:
    """A rendered page: its headers and its body."""

    headers: Mapping[str, str]
    body: bytes


def browser_of(request: HttpRequest) -> Browser | None:
    """Return the browser of the request; None without the CSRF cookie, which every page with a form sets."""
    csrf = request.META.get("CSRF_COOKIE")
    if not csrf:
        return None
    bucket = rate_limit_bucket(client_address(request))
    if not request.user.is_authenticated:
        return Browser((csrf,), None, bucket)
    return Browser((csrf, request.session.session_key or ""), request.user.pk, bucket)


def key_of(request: HttpRequest, browser: Browser, *, path: str, value: str) -> str:
    """Return the key of a kept page: a digest of where it is shown, to whom, and for which agency or workspace."""
    made_for = getattr(request, "made_for", None)
    return "refused-page:" + _digest(browser.name, request.get_host(), path, str(made_for), value)


def keep_page(key: str, page: RefusedPage, browser: Browser) -> bool:
    """Keep a page; return whether it was kept."""
    plain = json.dumps(dict(page.headers)).encode() + b"\n" + page.body
    packed = zlib.compress(plain, LEVEL)
    if len(packed) > MOST_BYTES:
        return False
    sealed = keyring().encrypt(f"{key}:".encode() + packed)
    (sender, of_sender), (group, of_group) = browser.limits()
    keys = (key, _list_of(browser), f"limit:refused-pages:{sender}", f"limit:refused-pages:{group}")
    values = (sealed, len(sealed) + OVERHEAD, SECONDS * 1000, MOST_PAGES, of_sender, of_group)
    try:
        return bool(call_redis(lambda redis: redis.eval(KEEP, len(keys), *keys, *values)))
    except RedisUnavailable:
        return False


def kept_page(key: str) -> RefusedPage | None:
    """Return a kept page; None if there is none, if it has expired, or if it cannot be decrypted."""
    try:
        sealed: Any = call_redis(lambda redis: redis.get(key))
    except RedisUnavailable:
        return None
    if sealed is None:
        return None
    try:
        plain = keyring().decrypt(sealed)
    except InvalidToken:
        return None
    binding = f"{key}:".encode()
    if not plain.startswith(binding):
        return None
    headers, _, body = zlib.decompress(plain[len(binding) :]).partition(b"\n")
    return RefusedPage(json.loads(headers), body)


def forget_pages(keys: list[str], browser: Browser) -> None:
    """Drop the pages of forms that have now succeeded; without Redis the pages expire."""
    if not keys:
        return
    try:
        call_redis(lambda redis: redis.eval(FORGET, len(keys) + 1, _list_of(browser), *keys))
    except RedisUnavailable:
        return


def _list_of(browser: Browser) -> str:
    return f"refused-pages:of:{browser.name}"


def _digest(*parts: str) -> str:
    return salted_hmac(SALT, "\n".join(parts), secret=settings.SECRET_KEY, algorithm="sha256").hexdigest()
