"""How long a message that was not accepted waits for the next try, and when it is given up."""

from typing import Final

from channelconnect.providers.messages import CallResult, Outcome
from channelconnect.providers.messages.errors import UNAVAILABLE, Backoff

# Seconds by the number of tries so far; the last value repeats.
POWERS_OF_FOUR: Final = (1.0, 4.0, 16.0, 64.0)
WAITS: Final[dict[Backoff, tuple[float, ...]]] = {
    Backoff.PAIR: POWERS_OF_FOUR,
    Backoff.THROTTLE: (5.0, 20.0, 60.0),
    Backoff.NUMBER: (1.0, 2.0, 5.0, 10.0),
    Backoff.SERVICE: (1.0, 4.0, 20.0),
    Backoff.ACCESS: (15.0, 60.0, 300.0),
}
LONGEST_WAIT_SECONDS: Final = 3_600.0
LONGEST_RETRY_SECONDS: Final = 24 * 3_600.0


def wait_of(outcome: Outcome, *, tries: int) -> float:
    """Return the wait after this many tries. The answer's own wait counts if it is longer."""
    waits = WAITS[outcome.error.backoff if outcome.error else Backoff.SERVICE]
    return min(max(outcome.wait_seconds, waits[min(tries, len(waits) - 1)]), LONGEST_WAIT_SECONDS)


def given_up(outcome: Outcome) -> Outcome:
    """Return the final outcome of a message that could not be sent for a day."""
    return outcome._replace(result=CallResult.REFUSED, error=outcome.error or UNAVAILABLE)
