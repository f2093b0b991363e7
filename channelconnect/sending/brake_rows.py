"""The brakes as the senders tell each other: a row for each scope, which says how often it was pulled."""

from collections.abc import Iterable
from typing import NamedTuple

from config.leases.arrays import decimals, texts
from config.leases.connection import Connection

# A sender that has begun since then takes a brake on that the others have let go by so much.
TOLD_SECONDS = 300
KEPT_SECONDS = 24 * 3_600

WRITE = """
INSERT INTO channelconnect_providerbrake AS known (scope, share, pulled_at, stopped_until, pulls)
SELECT told.scope, told.share, clock_timestamp(), clock_timestamp() + make_interval(secs => told.seconds), 1
FROM unnest(%(scopes)s::text[], %(shares)s::float8[], %(seconds)s::float8[]) AS told (scope, share, seconds)
ORDER BY told.scope
ON CONFLICT (scope) DO UPDATE SET share = excluded.share, pulled_at = excluded.pulled_at, pulls = known.pulls + 1,
    stopped_until = greatest(known.stopped_until, excluded.stopped_until)
"""
FORGET = """
DELETE FROM channelconnect_providerbrake
WHERE greatest(pulled_at, stopped_until) < clock_timestamp() - make_interval(secs => %(kept)s)
"""
READ = """
SELECT scope, share, extract(epoch FROM stopped_until - clock_timestamp())::float8, pulls
FROM channelconnect_providerbrake
WHERE greatest(pulled_at, stopped_until) > clock_timestamp() - make_interval(secs => %(told)s)
"""


class Pull(NamedTuple):
    """A brake was pulled: to what share of what went before, and stopped for how many seconds; `number` counts them."""

    scope: str
    share: float
    seconds: float
    number: int = 0


def write_pulls(connection: Connection, pulls: Iterable[Pull]) -> None:
    """Tell of pulls; of several of one scope, the longest stop and the least share."""
    by_scope: dict[str, Pull] = {}
    for pull in pulls:
        known = by_scope.get(pull.scope, pull)
        by_scope[pull.scope] = Pull(pull.scope, min(pull.share, known.share), max(pull.seconds, known.seconds))
    values = {
        "scopes": texts(by_scope),
        "shares": decimals(pull.share for pull in by_scope.values()),
        "seconds": decimals(pull.seconds for pull in by_scope.values()),
    }
    connection.execute(WRITE, values, prepare=True)
    connection.execute(FORGET, {"kept": KEPT_SECONDS}, prepare=True)


def read_pulls(connection: Connection) -> list[Pull]:
    """Give the brakes that any sender has pulled lately."""
    return [Pull._make(row) for row in connection.execute(READ, {"told": TOLD_SECONDS}, prepare=True)]
