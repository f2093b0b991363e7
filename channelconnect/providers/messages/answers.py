"""Decides the outcome of a send from the end of the call and the answer."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import orjson

from channelconnect.providers.faults import scrubbed
from channelconnect.providers.graph.parsing import Row, number, row, rows, text
from channelconnect.providers.graph.rate_limits import minutes_to_wait
from channelconnect.providers.messages.errors import (
    INVALID,
    OUTCOME_UNKNOWN,
    REFUSED,
    THROTTLED,
    UNAVAILABLE,
    CallResult,
    SendError,
    error_of,
)

LONGEST_ID: Final = 512
TOO_MANY: Final = 429
SERVER_FAULT: Final = 500
# Answers of proxies and of addresses without a Graph API. Nobody has read the message.
NOT_TAKEN: Final = (408, 425, TOO_MANY)


class Outcome(NamedTuple):
    """The outcome of a send. `error` says why it was not accepted; `wait_seconds` is the wait that the answer names.

    `details` is the provider's further text, without secrets.
    """

    result: CallResult
    message_id: str = ""
    error: SendError | None = None
    wait_seconds: float = 0.0
    details: str = ""
    is_held: bool = False

    @property
    def sentence(self) -> str:
        """The text for people: ours, plus the provider's if we have no text for its code."""
        if self.error is None:
            return ""
        is_known = self.error.sentence != REFUSED.sentence or not self.details
        return self.error.sentence if is_known else f"{self.error.sentence} It says: {self.details}"


UNSENDABLE: Final = Outcome(CallResult.REFUSED, error=INVALID)
UNREACHED: Final = Outcome(CallResult.RETRY, error=UNAVAILABLE)
LOST: Final = Outcome(CallResult.UNKNOWN, error=OUTCOME_UNKNOWN)


def read_answer(*, status: int | None, body: bytes, headers: Mapping[str, str], written: bool, token: str) -> Outcome:
    """Decide the outcome of a call. `written` says whether the provider may have received any of it."""
    if status is None:
        return LOST if written else UNREACHED
    answer = _parsed(body)
    error = row((answer or {}).get("error"))
    if error:
        return _refused(error, status, headers, token)
    if status < 300:
        return _accepted(answer or {})
    if status in NOT_TAKEN:
        return Outcome(CallResult.RETRY, error=THROTTLED, wait_seconds=minutes_to_wait(headers) * 60.0)
    if status >= SERVER_FAULT:
        return LOST
    return (
        Outcome(CallResult.RETRY, error=UNAVAILABLE) if answer is None else Outcome(CallResult.REFUSED, error=REFUSED)
    )


def _accepted(answer: Row) -> Outcome:
    """Find the message's id, as WhatsApp or the Send API gives it. Without an id the outcome is unknown."""
    [first, *_] = rows(answer.get("messages")) or [{}]
    message_id = text(first.get("id"), LONGEST_ID) or text(answer.get("message_id"), LONGEST_ID)
    if not message_id:
        return LOST
    is_held = text(first.get("message_status")) in ("held_for_quality_assessment", "paused")
    return Outcome(CallResult.ACCEPTED, message_id=message_id, is_held=is_held)


def _refused(error: Row, status: int, headers: Mapping[str, str], token: str) -> Outcome:
    code, subcode = number(error.get("code")), number(error.get("error_subcode"))
    found = error_of(code, subcode)
    if status >= SERVER_FAULT and found.result is CallResult.REFUSED:
        return LOST._replace(details=found.code)
    said = text(row(error.get("error_data")).get("details")) or text(error.get("message"))
    details = scrubbed(said, (token,)) if said else ""
    return Outcome(
        found.result,
        error=OUTCOME_UNKNOWN if found.result is CallResult.UNKNOWN else found,
        wait_seconds=minutes_to_wait(headers) * 60.0,
        details=details,
    )


def _parsed(body: bytes) -> Row | None:
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return answer if isinstance(answer, dict) else None
