"""Pulls brakes for the provider's errors and usage headers about its limits."""

from typing import Final

from requests.structures import CaseInsensitiveDict

from channelconnect.providers.graph.rate_limits import HEADERS, Used, used_of
from channelconnect.providers.messages import Outcome
from channelconnect.providers.messages.errors import Backoff
from channelconnect.sending.brakes import APP, Brakes
from config.http.transfer import Result

# These errors concern all calls of the app; other throttling errors concern the account's calls.
OF_APP: Final = frozenset({"4", "341"})
# In percent. From MUCH on, more use means less sending; at ALL, sending stops.
MUCH: Final = 80
ALL: Final = 100
MINUTE: Final = 60.0


def pull_brakes(brakes: Brakes, account: str, outcome: Outcome, result: Result) -> None:
    """Slow down or stop the app or the account, as an error or the usage headers say."""
    app, of_account = _used(result)
    error = outcome.error
    if error is not None and error.backoff is Backoff.THROTTLE:
        if error.code in OF_APP:
            brakes.stop(APP, app.minutes * MINUTE)
        else:
            brakes.stop(account, of_account.minutes * MINUTE)
    for scope, used in ((APP, app), (account, of_account)):
        if used.minutes or used.percent >= ALL:
            brakes.stop(scope, used.minutes * MINUTE)
        elif used.percent > MUCH:
            brakes.slow_to(scope, (ALL - used.percent) / (ALL - MUCH))


def _used(result: Result) -> tuple[Used, Used]:
    """Read the headers only if they are present; nearly all answers have none."""
    head = result.response_head.lower()
    if not any(name in head for name in HEADERS):
        return Used(), Used()
    return used_of(CaseInsensitiveDict(result.response_headers))
