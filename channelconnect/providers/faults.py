"""Faults at a provider, and the table of the specification's error codes for them."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

LONGEST_TEXT: Final = 200
TOKENLIKE: Final = re.compile(r"[\w|.%+/=-]{24,}")


class ProviderFault(Exception):
    """A fault at a provider. `code` is the session's error code; `log` has more for the log only, without secrets."""

    def __init__(self, code: str, **log: object) -> None:
        super().__init__(code)
        self.code = code
        self.log = log


class Step(StrEnum):
    """The purpose of a call."""

    EXCHANGE = "exchange"
    INSPECT = "inspect"  # with the app's own token
    READ = "read"
    SUBSCRIBE = "subscribe"


class Outcome(StrEnum):
    """The way in which a call failed."""

    AWAY = "away"  # not reached, no answer in time, 5xx, no JSON
    THROTTLED = "throttled"
    TOKEN_DEAD = "token_dead"  # noqa: S105 - a word, no secret
    REFUSED = "refused"


ERROR_CODES: Final[dict[Step, dict[Outcome, str]]] = {
    Step.EXCHANGE: {
        Outcome.AWAY: "provider_unavailable",
        Outcome.THROTTLED: "token_exchange_failed",
        Outcome.TOKEN_DEAD: "token_exchange_failed",
        Outcome.REFUSED: "token_exchange_failed",
    },
    Step.INSPECT: {
        Outcome.AWAY: "provider_unavailable",
        Outcome.THROTTLED: "provider_request_failed",
        Outcome.TOKEN_DEAD: "provider_request_failed",
        Outcome.REFUSED: "provider_request_failed",
    },
    Step.READ: {
        Outcome.AWAY: "provider_unavailable",
        Outcome.THROTTLED: "provider_request_failed",
        Outcome.TOKEN_DEAD: "credentials_expired",
        Outcome.REFUSED: "provider_request_failed",
    },
    Step.SUBSCRIBE: {
        Outcome.AWAY: "provider_unavailable",
        Outcome.THROTTLED: "provider_request_failed",
        Outcome.TOKEN_DEAD: "credentials_expired",
        Outcome.REFUSED: "subscription_failed",
    },
}

# The Graph API's codes. Every other code is a refusal.
OUTCOMES: Final[dict[int, Outcome]] = {
    **dict.fromkeys((1, 2, 131000, 131016, 131057, 133004, 2494100), Outcome.AWAY),
    **dict.fromkeys((4, 17, 32, 341, 613, 80001, 80002, 80007, 130429), Outcome.THROTTLED),
    **dict.fromkeys((0, 102, 190), Outcome.TOKEN_DEAD),
}


def outcome_of(*, step: Step, status: int, code: int | None, is_graph: bool) -> Outcome:
    """Classify a failed answer. `is_graph` says that it is a JSON object, so that the Graph API itself has answered.

    Every 4xx of the token exchange is a refusal, whatever its code means elsewhere.
    """
    if step is Step.EXCHANGE and 400 <= status < 500:
        return Outcome.REFUSED
    if code is not None and code in OUTCOMES:
        return OUTCOMES[code]
    if status == 429:
        return Outcome.THROTTLED
    return Outcome.REFUSED if is_graph and status < 500 else Outcome.AWAY


def scrubbed(text: object, secrets: Iterable[str]) -> str:
    """Return a provider's text, shortened and without the call's secrets or anything that looks like a secret."""
    shown = str(text)[: 4 * LONGEST_TEXT]
    for secret in secrets:
        if secret:
            shown = shown.replace(secret, "…")
    return TOKENLIKE.sub("…", shown)[:LONGEST_TEXT]
