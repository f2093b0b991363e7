"""Unexpected faults: logged without the data they carry, and answered without a trace of them."""

import logging
import traceback
from collections.abc import Iterator
from typing import NamedTuple

import psycopg
from django.db import DataError, Error, IntegrityError, InterfaceError, OperationalError

from config.postgresql.races import LOST, sqlstate

logger = logging.getLogger(__name__)

SERVER_ERROR = "Server error."
CONCURRENT_CHANGE = "Another request is changing this at the moment. Send the request again."
UNAVAILABLE = "The service is busy at the moment. Send the request again."
RETRY_AFTER_SECONDS = 2
# SQLSTATE classes in which PostgreSQL could not work for us: connections, resources (such as a full disk), objects in
# use (a lock that was not free in time), intervention by an operator (a statement timeout, a restart), its files. And
# read_only_sql_transaction: the server is a standby, or has become one.
UNAVAILABLE_CLASSES = ("08", "53", "55", "57", "58", "25006")


class FaultAnswer(NamedTuple):
    """The answer to a failed statement. The caller may try again after `retry_after` seconds."""

    status: int
    message: str
    retry_after: int | None = None


BUSY = FaultAnswer(503, UNAVAILABLE, RETRY_AFTER_SECONDS)


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
    """Log a fault. A database's own text may quote whole rows, so only frames and names of its faults are logged."""
    if any(isinstance(link, Error | psycopg.Error) for link in _chain(fault)):
        frames = "".join(traceback.format_tb(fault.__traceback__))
        extra = {"fault": type(fault).__name__, "frames": frames, **_diagnosis(fault)}
        logger.log(level, "database fault", extra=extra)
    else:
        logger.log(level, "unexpected fault", exc_info=fault)


def is_unavailable(fault: BaseException) -> bool:
    """Return whether the database was unreachable or too slow. Then nothing is wrong with the request."""
    if not isinstance(fault, Error):
        return False
    state = sqlstate(fault)
    if state:
        return state.startswith(UNAVAILABLE_CLASSES)
    return isinstance(fault, OperationalError | InterfaceError)


def is_race_lost(fault: BaseException) -> bool:
    """Return whether another transaction was first, so that a repetition may pass."""
    return isinstance(fault, Error) and sqlstate(fault) in LOST


def database_fault_response(fault: Error) -> FaultAnswer:
    """Return the answer to a failed statement."""
    if is_unavailable(fault):
        return BUSY
    if isinstance(fault, IntegrityError) or is_race_lost(fault):
        return FaultAnswer(409, CONCURRENT_CHANGE)
    if isinstance(fault, DataError):
        return FaultAnswer(422, "A value is out of range.")
    return FaultAnswer(500, SERVER_ERROR)
