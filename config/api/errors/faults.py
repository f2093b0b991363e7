"""Faults nobody foresaw: logged without the data they carry, answered without a trace of them."""

import logging
import traceback
from collections.abc import Iterator

import psycopg
from django.db import DatabaseError, DataError, IntegrityError

logger = logging.getLogger(__name__)

SERVER_ERROR = "Server error."
CONCURRENT_CHANGE = "Another request is changing this at the moment. Send the request again."
# lock_not_available, deadlock_detected, serialization_failure: nothing was done, and a repetition may pass.
RACE_LOST_STATES = frozenset({"55P03", "40P01", "40001"})


def sqlstate(fault: BaseException) -> str:
    """Give PostgreSQL's five characters for a database fault, or nothing."""
    cause = fault.__cause__
    return (cause.sqlstate or "") if isinstance(cause, psycopg.Error) else ""


def _chain(fault: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = fault
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def _diagnosis(fault: BaseException) -> dict[str, str | None]:
    for link in _chain(fault):
        if isinstance(link, psycopg.Error):
            names = link.diag
            return {"sqlstate": link.sqlstate, "constraint": names.constraint_name, "table": names.table_name}
    return {}


def log_fault(fault: BaseException, level: int = logging.ERROR) -> None:
    """Log a fault; a database's own text may quote whole rows, so of those only frames and names are kept."""
    if any(isinstance(link, DatabaseError | psycopg.Error) for link in _chain(fault)):
        frames = "".join(traceback.format_tb(fault.__traceback__))
        extra = {"fault": type(fault).__name__, "frames": frames, **_diagnosis(fault)}
        logger.log(level, "database fault", extra=extra)
    else:
        logger.log(level, "unexpected fault", exc_info=fault)


def database_fault_response(fault: DatabaseError) -> tuple[int, str]:
    """Give the status and the message that a failed statement is answered with."""
    if isinstance(fault, IntegrityError) or sqlstate(fault) in RACE_LOST_STATES:
        return 409, CONCURRENT_CHANGE
    if isinstance(fault, DataError):
        return 422, "A value is out of range."
    return 500, SERVER_ERROR
