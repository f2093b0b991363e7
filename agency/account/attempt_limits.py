"""Limits on attempts to sign in and on asking for e-mails; with Redis away nothing is limited."""

import hashlib
from dataclasses import dataclass
from typing import cast

from django.http import HttpRequest

from config.api.requests.clients import address_bucket_of, client_address
from config.api.throttling import SCRIPT
from config.redis import RedisAway, attempt

WINDOW_SECONDS = 15 * 60


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """At most `size` attempts in fifteen minutes for each address or account."""

    name: str
    size: int

    def key(self, whose: str) -> str:
        """Give the counter's name; an account is only there as a digest."""
        return f"limit:{self.name}:{whose}"

    def count(self, whose: str) -> int:
        """Count one attempt; give how many seconds to wait when it was one too many, else 0."""
        arguments = (1, self.key(whose), self.size, WINDOW_SECONDS * 1000)
        try:
            _, milliseconds = cast("list[int]", attempt(lambda redis: redis.eval(SCRIPT, *arguments)))
        except RedisAway:
            return 0
        return -(-milliseconds // 1000)

    def reset(self, whose: str) -> None:
        """Give the account its attempts back: it has shown that it is the right person."""
        try:
            attempt(lambda redis: redis.delete(self.key(whose)))
        except RedisAway:
            return


SIGN_INS_FROM_ADDRESS = AttemptLimit("sign-in-from", 100)
SIGN_INS_TO_ACCOUNT = AttemptLimit("sign-in-to", 10)
RESETS_FROM_ADDRESS = AttemptLimit("reset-from", 20)
RESETS_OF_ACCOUNT = AttemptLimit("reset-of", 3)


def address_bucket(request: HttpRequest) -> str:
    return address_bucket_of(client_address(request))


def account_digest(email: str) -> str:
    return hashlib.sha256(email.strip().lower().encode()).hexdigest()
