"""The thread that records attempts in batches, and what each answer means for its delivery."""

import logging
import time
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from time import monotonic
from typing import NamedTuple

import psycopg

from config.http.error_codes import BLOCKED_ADDRESS, FAILED
from config.http.transfer import Result, storable_text
from config.leases.connections import Connection
from config.leases.recorder import Recorder
from config.metrics import count, observe
from config.postgresql.arrays import binaries, decimals, integers, texts
from webhooks.dispatcher import queries
from webhooks.dispatcher.queries import LeasedDelivery
from webhooks.models.endpoints import RETRY_WAITS
from webhooks.services.queueing import AGENCY_SUSPENDED
from webhooks.signing import Signature

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


def columns(attempts: Sequence[AttemptResult]) -> dict[str, object]:
    """Turn attempts into the values of `queries.record`, one array for each column."""
    results = [one.result for one in attempts]
    outcomes = [outcome(one) for one in attempts]
    pairs = list(zip(attempts, outcomes, strict=True))
    return {
        "most": len(attempts),
        "ended": integers(one.row.id for one, ending in pairs if ending != PENDING),
        "postponed": integers(one.row.id for one, ending in pairs if ending == PENDING),
        "waits": decimals(RETRY_WAITS[one.row.attempts] for one, ending in pairs if ending == PENDING),
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


logger = logging.getLogger(__name__)


class SkippedDelivery(NamedTuple):
    """A delivery that is not sent, with the reason. If its agency is suspended, it is held, else it fails."""

    row: LeasedDelivery
    error: str


class DeliveryRecorder(Recorder[AttemptResult, LeasedDelivery, SkippedDelivery]):
    """Records attempts, fails deliveries of disabled endpoints, and holds deliveries of suspended agencies."""

    name = "dispatcher recorder"

    def record(self, connection: Connection, results: Sequence[AttemptResult]) -> int:
        began = monotonic()
        recorded = queries.record(connection, run=self.run, columns=columns(results))
        observe("dispatcher_record_seconds", monotonic() - began)
        for error, attempts in Counter(one.result.error for one in results).items():
            count("webhook_attempts_total", attempts, error or SUCCESS)
        return recorded

    def reject(self, connection: Connection, result: AttemptResult, fault: psycopg.Error) -> None:
        delivery = result.row.id
        logger.error("an attempt cannot be recorded", extra={"delivery": delivery, "fault": type(fault).__name__})
        queries.abandon(connection, run=self.run, ids=[delivery], error=FAILED)

    def give_back(self, connection: Connection, unused: Sequence[LeasedDelivery]) -> None:
        queries.give_back(connection, run=self.run, ids=[row.id for row in unused])

    def abandon(self, connection: Connection, unwanted: Sequence[SkippedDelivery]) -> None:
        for error in {one.error for one in unwanted}:
            ids = [one.row.id for one in unwanted if one.error == error]
            if error == AGENCY_SUSPENDED:
                queries.hold(connection, run=self.run, ids=ids)
            else:
                queries.abandon(connection, run=self.run, ids=ids, error=error)
