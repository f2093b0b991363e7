"""What the sender tells of the messages that it has given to a provider."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SendResult:
    """How the sending of one message ended: `status` is sent or failed, `at` when its answer came.

    `message` is the row's id. One that a status has moved on already keeps that.
    """

    message: int
    status: str
    at: datetime
    provider_message_id: str = ""
    error_code: str = ""
    error_message: str = ""


def record_send_results(results: Sequence[SendResult], *, now: datetime) -> int:
    """Move messages on from pending, inside the caller's transaction, and remove their queued rows."""
    raise NotImplementedError
