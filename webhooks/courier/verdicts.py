"""What an attempt means for its delivery, and the columns in which it is recorded."""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from webhooks.courier.rows import Leased
from webhooks.transport.exchange import Result
from webhooks.transport.outcomes import BLOCKED_ADDRESS

RETRY_SECONDS = {1: 10.0, 2: 60.0}
JITTER = 0.2
NEVER_RETRIED = frozenset({BLOCKED_ADDRESS, "invalid_url", "endpoint_disabled"})


@dataclass(frozen=True, slots=True)
class Landed:
    """An attempt that ended, with the headers that were sent."""

    row: Leased
    result: Result
    sent: dict[str, str]

    @property
    def number(self) -> int:
        return self.row.attempts + 1

    @property
    def outcome(self) -> str:
        """`success`, `error`, or `pending` while another attempt is to come."""
        if self.result.error is None:
            return "success"
        final = self.number >= self.row.max_attempts or self.result.error in NEVER_RETRIED
        return "error" if final else "pending"

    @property
    def wait(self) -> float:
        """Seconds to the next attempt: about 10 after the first, about 60 after the second, up to a fifth more."""
        return RETRY_SECONDS.get(self.number, 60.0) * (1 + random.uniform(0, JITTER))  # noqa: S311  # spreads load


def refused(row: Leased, error: str) -> Landed:
    """An attempt that ended before anything was sent."""
    now = datetime.now(UTC).timestamp()
    return Landed(row, Result(row.id, None, error, now, 0.0, None, None, None, 0.0, None, False, False, b"", b""), {})


def head_text(raw: bytes) -> str | None:
    """The answer's head as text that PostgreSQL takes."""
    return raw.decode("utf-8", "replace").replace("\0", "\ufffd") or None


def columns(landed: Iterable[Landed]) -> dict[str, list[Any]]:
    """Turn attempts into the arrays that `rows.record` takes."""
    rows = [
        (
            one.row.id,
            one.number,
            one.result.status,
            one.result.error,
            one.outcome,
            one.wait,
            datetime.fromtimestamp(one.result.started_at, UTC),
            one.result.total_ms,
            one.result.dns_ms,
            one.result.connect_ms,
            one.result.tls_ms,
            one.result.first_byte_ms,
            one.result.remote_address,
            orjson.dumps(one.sent).decode(),
            head_text(one.result.response_head),
            one.result.response_body or None,
        )
        for one in landed
    ]
    names = (
        "ids", "numbers", "statuses", "errors", "outcomes", "waits", "started", "durations", "dns", "connects", "tls",
        "first_bytes", "addresses", "request_headers", "response_headers", "bodies",
    )  # fmt: skip
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
