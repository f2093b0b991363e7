"""Decides an attempt's outcome for its delivery, and turns attempts into columns for the recording statement."""

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from config.http.error_codes import BLOCKED_ADDRESS
from config.http.transfer import Result, storable_text
from config.postgresql.arrays import binaries, decimals, integers, texts
from webhooks.dispatcher.queries import LeasedDelivery
from webhooks.signing import Signature

# The waits in seconds before the second and later attempts. Standard retries have three attempts, extended ones nine.
WAITS = (10.0, 60.0, 300.0, 1_800.0, 7_200.0, 18_000.0, 36_000.0, 36_000.0)
SUCCESS, ERROR, PENDING = "success", "error", "pending"


class AttemptResult(NamedTuple):
    """An ended attempt with its URL and signature. `signature` is None if nothing was sent."""

    row: LeasedDelivery
    url: str
    signature: Signature | None
    result: Result


def not_sent(row: LeasedDelivery, url: str, error: str, *, dns_ms: float = 0.0) -> AttemptResult:
    """Return the result of an attempt that ended before anything was sent."""
    result = Result(
        key=row.id,
        status=None,
        error=error,
        started_at=time.time() - dns_ms / 1000,
        dns_ms=dns_ms,
        connect_ms=None,
        tls_ms=None,
        first_byte_ms=None,
        total_ms=dns_ms,
        remote_address=None,
        reused=False,
        cut=False,
        response_head=b"",
        response_body=b"",
    )
    return AttemptResult(row, url, None, result)


def outcome(attempt: AttemptResult) -> str:
    """Return `success`, `error`, or `pending` if another attempt will follow."""
    row, error = attempt.row, attempt.result.error
    if error is None:
        return SUCCESS
    is_last = row.attempts + 1 >= row.max_attempts or error == BLOCKED_ADDRESS
    return ERROR if is_last else PENDING


@lru_cache(maxsize=1024)
def _text(raw: bytes) -> str | None:
    return storable_text(raw) or None


def columns(attempts: Sequence[AttemptResult]) -> dict[str, Any]:
    """Turn attempts into the values of `queries.record`, one array for each column."""
    results = [one.result for one in attempts]
    outcomes = [outcome(one) for one in attempts]
    pairs = list(zip(attempts, outcomes, strict=True))
    return {
        "most": len(attempts),
        "ended": integers(one.row.id for one, ending in pairs if ending != PENDING),
        "postponed": integers(one.row.id for one, ending in pairs if ending == PENDING),
        "waits": decimals(WAITS[one.row.attempts] for one, ending in pairs if ending == PENDING),
        "ids": integers(one.row.id for one in attempts),
        "numbers": integers(one.row.attempts + 1 for one in attempts),
        "statuses": integers(result.status for result in results),
        "errors": texts(result.error for result in results),
        "outcomes": texts(outcomes),
        "started": f"{{{','.join([f'{result.started_at:.6f}' for result in results])}}}",
        "durations": decimals(result.total_ms for result in results),
        "dns": decimals(result.dns_ms for result in results),
        "connects": decimals(result.connect_ms for result in results),
        "tls": decimals(result.tls_ms for result in results),
        "first_bytes": decimals(result.first_byte_ms for result in results),
        "urls": texts(one.url for one in attempts),
        "addresses": texts(result.remote_address for result in results),
        "signatures": binaries(one.signature.pack() if one.signature else None for one in attempts),
        "heads": texts(_text(result.response_head) for result in results),
        "bodies": binaries(result.response_body or None for result in results),
    }
