"""The rows through which senders share their brakes. Each scope has a row with the number of its pulls."""

from collections.abc import Iterable
from typing import NamedTuple

from config.leases.connections import Connection
from config.postgresql.arrays import decimals, texts

# A newly started sender applies brakes up to this old, although the others have been releasing them since.
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
    """A pull of a brake: to `share` of the earlier rate, after a stop of `seconds`. `number` counts a scope's pulls."""

    scope: str
    share: float
    seconds: float
    number: int = 0


def write_pulls(connection: Connection, pulls: Iterable[Pull]) -> None:
    """Write pulls for other senders. Pulls of one scope become one with the longest stop and the smallest share."""
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
    """Return the brakes that any sender has pulled recently."""
    return [Pull._make(row) for row in connection.execute(READ, {"told": TOLD_SECONDS}, prepare=True)]
