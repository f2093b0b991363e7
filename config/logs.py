"""Structured logs: JSON for machines or plain lines for people, with the request's id and without secrets."""

import json
import logging
import re
import uuid
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logging import _SysExcInfoType as ExcInfo

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
CALLERS_ID = re.compile(r"[A-Za-z0-9._-]{1,128}\Z")

SECRET = re.compile(
    r"svc_(?:ag_)?(?:test_)?[0-9A-Za-z]{20,}|whsec_[\w+/=-]{20,}|(?<=/set-password/)[\w-]+/[\w-]{20,}"
    r"|(?<=/connect/)[\w-]{40,}|(?<=/account/invitation/)[\w:-]{20,}|(?<=/sign-up/confirm/)[\w:-]{20,}"
    r"|(?<=/media/)[\w-]{20,}|(?<=/l/)[0-9A-Za-z]{10,}|(?<=/redeliveries/)[\w:-]{20,}|\bEAA[\w-]{20,}"
    r"|(?<=/book/manage/)[\w-]{20,}|(?<=/book/seat/)[\w-]{20,}|(?<=/pay/)[\w-]{20,}|(?<=/calendar/)[\w-]{20,}"
    r"|\b[rs]k_(?:live|test)_\w{10,}"
)
# PostgreSQL's error details quote whole rows, in which a secret looks like any other text.
DETAIL = re.compile(
    r"^DETAIL:.*?(?=^(?:HINT|CONTEXT|[\w.]+(?:Error|Violation|Exception)\b|Traceback|$)|\Z)", re.DOTALL | re.MULTILINE
)
STANDARD_ATTRIBUTES = set(vars(logging.makeLogRecord({}))) | {
    "message",
    "asctime",
    "taskName",
    "request",
    "color_message",
}


def request_id_for(given: str) -> str:
    """Return the id of a request: the caller's if it is valid, otherwise a new one."""
    return given if CALLERS_ID.match(given) else uuid.uuid4().hex


def redact(text: str) -> str:
    """Blank every key, signing secret, provider's token and secret link, but leave enough to see its kind."""
    return SECRET.sub(lambda found: found.group()[:7] + "…", text)


class Formatter(logging.Formatter):
    """Writes tracebacks without the rows that the database quotes in its errors."""

    def formatException(self, ei: "ExcInfo") -> str:  # noqa: N802  # the library's name
        return DETAIL.sub("DETAIL: …\n", super().formatException(ei)).rstrip("\n")


def extra_fields(record: logging.LogRecord) -> dict[str, object]:
    """Return a record's extra fields, the request's id first."""
    request = {"request_id": request_id.get()} if request_id.get() else {}
    return {**request, **{name: value for name, value in vars(record).items() if name not in STANDARD_ATTRIBUTES}}


def escape_control_characters(text: str) -> str:
    """Escape a caller's text, so that it cannot move a terminal's cursor or begin a new line."""
    return text if text.isprintable() else repr(text)


class PlainFormatter(Formatter):
    """Writes a record for a terminal: its message, then its extra fields as `name=value`."""

    def format(self, record: logging.LogRecord) -> str:
        fields = (f"{name}={escape_control_characters(str(value))}" for name, value in extra_fields(record).items())
        line = " ".join([record.levelname, record.name, record.getMessage(), *fields])
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return redact(line)


class JSONFormatter(Formatter):
    """Writes a record and its extra fields as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= extra_fields(record)
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return redact(json.dumps(line, default=str, ensure_ascii=False))
