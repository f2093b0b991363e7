"""Faults nobody foresaw: logged without the data they carry, answered without a trace of them."""

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
# Classes of states in which PostgreSQL could not work for us: connections, resources (a full disk among them), objects
# in use (a lock that was not free in time), intervention by an operator (a statement timeout, a restart), its files.
# And read_only_sql_transaction: a server that has become, or still is, a standby.
UNAVAILABLE_CLASSES = ("08", "53", "55", "57", "58", "25006")


class FaultAnswer(NamedTuple):
    """What a failed statement is answered with; a caller may try again after `retry_after` seconds."""

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
    """Log a fault; a database's own text may quote whole rows, so of those only frames and names are kept."""
    if any(isinstance(link, Error | psycopg.Error) for link in _chain(fault)):
        frames = "".join(traceback.format_tb(fault.__traceback__))
        extra = {"fault": type(fault).__name__, "frames": frames, **_diagnosis(fault)}
        logger.log(level, "database fault", extra=extra)
    else:
        logger.log(level, "unexpected fault", exc_info=fault)


def is_unavailable(fault: BaseException) -> bool:
    """Say whether the database could not be asked, or not in time: nothing is wrong with the request."""
    if not isinstance(fault, Error):
        return False
    state = sqlstate(fault)
    if state:
        return state.startswith(UNAVAILABLE_CLASSES)
    return isinstance(fault, OperationalError | InterfaceError)


def is_race_lost(fault: BaseException) -> bool:
    """Say whether another request was first in the database, and a repetition may pass."""
    return isinstance(fault, Error) and sqlstate(fault) in LOST


def database_fault_response(fault: Error) -> FaultAnswer:
    """Give the status and the message that a failed statement is answered with."""
    if is_unavailable(fault):
        return BUSY
    if isinstance(fault, IntegrityError) or is_race_lost(fault):
        return FaultAnswer(409, CONCURRENT_CHANGE)
    if isinstance(fault, DataError):
        return FaultAnswer(422, "A value is out of range.")
    return FaultAnswer(500, SERVER_ERROR)
