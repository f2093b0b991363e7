"""What an attempt means for its delivery, and the columns in which it is recorded."""

import time
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from webhooks.courier.arrays import decimal, octets, whole, words
from webhooks.courier.rows import Leased
from webhooks.transport.exchange import Result, storable_text
from webhooks.transport.outcomes import BLOCKED_ADDRESS

SECOND_WAIT = 10.0
THIRD_WAIT = 60.0
SUCCESS, ERROR, PENDING = "success", "error", "pending"


class Landed(NamedTuple):
    """An attempt that ended: where it went and with which signature, none where nothing was sent."""

    row: Leased
    url: str
    signature: bytes | None
    result: Result


def refused(row: Leased, url: str, error: str, *, dns_ms: float = 0.0) -> Landed:
    """An attempt that ended before anything was sent."""
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
    return Landed(row, url, None, result)


def outcome(landed: Landed) -> str:
    """`success`, `error`, or `pending` while another attempt is to come."""
    row, error = landed.row, landed.result.error
    if error is None:
        return SUCCESS
    is_last = row.attempts + 1 >= row.max_attempts or error == BLOCKED_ADDRESS
    return ERROR if is_last else PENDING


@lru_cache(maxsize=1024)
def _text(raw: bytes) -> str | None:
    return storable_text(raw) or None


def told(landed: Sequence[Landed]) -> dict[str, Any]:
    """Turn attempts into the values that `rows.record` takes: an array for each column."""
    results = [one.result for one in landed]
    outcomes = [outcome(one) for one in landed]
    fates = list(zip(landed, outcomes, strict=True))
    return {
        "most": len(landed),
        "second_wait": SECOND_WAIT,
        "third_wait": THIRD_WAIT,
        "ended": whole(one.row.id for one, fate in fates if fate != PENDING),
        "postponed": whole(one.row.id for one, fate in fates if fate == PENDING),
        "second": whole(one.row.id for one, fate in fates if fate == PENDING and not one.row.attempts),
        "ids": whole(one.row.id for one in landed),
        "numbers": whole(one.row.attempts + 1 for one in landed),
        "statuses": whole(result.status for result in results),
        "errors": words(result.error for result in results),
        "outcomes": words(outcomes),
        "started": f"{{{','.join([f'{result.started_at:.6f}' for result in results])}}}",
        "durations": decimal(result.total_ms for result in results),
        "dns": decimal(result.dns_ms for result in results),
        "connects": decimal(result.connect_ms for result in results),
        "tls": decimal(result.tls_ms for result in results),
        "first_bytes": decimal(result.first_byte_ms for result in results),
        "urls": words(one.url for one in landed),
        "addresses": words(result.remote_address for result in results),
        "signatures": octets(one.signature for one in landed),
        "heads": words(_text(result.response_head) for result in results),
        "bodies": octets(result.response_body or None for result in results),
    }
