"""Limits on sign-in attempts and requests for e-mails, counted in Redis; while Redis is away they do not apply."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from django.http import HttpRequest

from agency.account.sign_in.known_browsers import browser_id
from agency.models import User
from agency.services.people.two_factor import MOST_ATTEMPTS_OF_ALL, count_attempt
from config.api.requests import client_address, rate_limit_bucket
from config.api.throttling import SCRIPT
from config.redis import RedisUnavailable, call_redis

WINDOW_SECONDS = 15 * 60


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """At most `size` attempts in fifteen minutes for one network address or account."""

    name: str
    size: int

    def key(self, whose: str) -> str:
        """Return the counter's name, which holds an account only as a digest."""
        return f"limit:{self.name}:{whose}"

    def count(self, whose: str) -> int:
        """Count one attempt; return the seconds to wait if it is over the limit, else 0."""
        arguments = (1, self.key(whose), self.size, WINDOW_SECONDS * 1000)
        try:
            _, milliseconds = cast("list[int]", call_redis(lambda redis: redis.eval(SCRIPT, *arguments)))
        except RedisUnavailable:
            return 0
        return -(-milliseconds // 1000)

    def reset(self, whose: str) -> None:
        """Reset the count of an account whose person has proved who they are."""
        try:
            call_redis(lambda redis: redis.delete(self.key(whose)))
        except RedisUnavailable:
            return


# Attempts on one account have a tight limit for each network address and a looser limit over all addresses. One address
# cannot lock the account out, and many addresses together cannot guess for long. A browser that has signed in to the
# account before has its own limit instead, which nobody else can use up.
SIGN_INS_FROM_ADDRESS = AttemptLimit("sign-in-from", 100)
SIGN_INS_TO_ACCOUNT_FROM_ADDRESS = AttemptLimit("sign-in-to-from", 10)
SIGN_INS_TO_ACCOUNT = AttemptLimit("sign-in-to", 100)
SIGN_INS_OF_KNOWN_BROWSER = AttemptLimit("sign-in-of", 10)
CODES_TO_ACCOUNT_FROM_ADDRESS = AttemptLimit("code-to-from", 10)
CODES_OF_KNOWN_BROWSER = AttemptLimit("code-of", 10)
PASSWORD_CHANGES = AttemptLimit("password-change", 10)
RESETS_FROM_ADDRESS = AttemptLimit("reset-from", 20)
RESETS_OF_ACCOUNT_FROM_ADDRESS = AttemptLimit("reset-of-from", 3)
RESETS_OF_ACCOUNT = AttemptLimit("reset-of", 12)
RESETS_OF_KNOWN_BROWSER = AttemptLimit("reset-by", 3)
SIGN_UPS_FROM_ADDRESS = AttemptLimit("sign-up-from", 20)
SIGN_UPS_OF_ACCOUNT_FROM_ADDRESS = AttemptLimit("sign-up-of-from", 3)
SIGN_UPS_OF_ACCOUNT = AttemptLimit("sign-up-of", 12)
SIGN_UP_FORMS = AttemptLimit("sign-up-form", 1)
SIGN_UP_PASSWORDS = AttemptLimit("sign-up-password", 10)
NEW_WORKSPACES = AttemptLimit("new-workspace", 10)


def address_bucket(request: HttpRequest) -> str:
    return rate_limit_bucket(client_address(request))


def account_digest(email: str) -> str:
    return hashlib.sha256(email.strip().lower().encode()).hexdigest()


def sign_in_wait(request: HttpRequest, email: str) -> int:
    """Count a sign-in attempt; return the seconds to wait if it is over a limit, else 0.

    An attempt that a tighter limit refuses does not count against a looser limit.
    """
    account, address = account_digest(email), address_bucket(request)
    known = browser_id(request, account)
    if known:
        return SIGN_INS_OF_KNOWN_BROWSER.count(known)
    return (
        SIGN_INS_FROM_ADDRESS.count(address)
        or SIGN_INS_TO_ACCOUNT_FROM_ADDRESS.count(f"{account}:{address}")
        or SIGN_INS_TO_ACCOUNT.count(account)
    )


def allow_sign_ins(request: HttpRequest, email: str) -> None:
    """Reset the attempts of a person who has shown the password, or the link in an e-mail."""
    account = account_digest(email)
    SIGN_INS_TO_ACCOUNT_FROM_ADDRESS.reset(f"{account}:{address_bucket(request)}")
    known = browser_id(request, account)
    if known:
        SIGN_INS_OF_KNOWN_BROWSER.reset(known)


def code_wait(request: HttpRequest, user: User, *, now: datetime) -> int:
    """Count an attempt at a person's code; return the seconds to wait if it is over a limit, else 0.

    The database counts all attempts on the account as well, also while Redis is away. Unknown browsers may use half of
    them. Browsers that the account has signed in with may use the rest.
    """
    account = account_digest(user.email)
    known = browser_id(request, account)
    if known:
        return CODES_OF_KNOWN_BROWSER.count(known) or count_attempt(user=user, now=now, most=MOST_ATTEMPTS_OF_ALL)
    tight = CODES_TO_ACCOUNT_FROM_ADDRESS.count(f"{account}:{address_bucket(request)}")
    return tight or count_attempt(user=user, now=now)


def allow_codes(request: HttpRequest, user: User) -> None:
    """Reset the attempts of a person who has shown a right code."""
    account = account_digest(user.email)
    CODES_TO_ACCOUNT_FROM_ADDRESS.reset(f"{account}:{address_bucket(request)}")
    known = browser_id(request, account)
    if known:
        CODES_OF_KNOWN_BROWSER.reset(known)


def may_be_sent_a_link(request: HttpRequest, email: str) -> bool:
    """Count a request for a password link; return False if there were too many for the account."""
    account, address = account_digest(email), address_bucket(request)
    known = browser_id(request, account)
    if known:
        return not RESETS_OF_KNOWN_BROWSER.count(known)
    tight = RESETS_OF_ACCOUNT_FROM_ADDRESS.count(f"{account}:{address}")
    return not (tight or RESETS_OF_ACCOUNT.count(account))


def may_be_sent_a_confirmation(request: HttpRequest, email: str) -> bool:
    """Count a sign-up with this e-mail address; return False if there were too many."""
    account, address = account_digest(email), address_bucket(request)
    tight = SIGN_UPS_OF_ACCOUNT_FROM_ADDRESS.count(f"{account}:{address}")
    return not (tight or SIGN_UPS_OF_ACCOUNT.count(account))
