"""The API's errors: refusals that belong to HTTP, unexpected faults, and the answer to each."""

import logging
import traceback
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import psycopg
from django.core import exceptions as django_exceptions
from django.core.exceptions import NON_FIELD_ERRORS
from django.core.exceptions import ValidationError as ModelValidationError
from django.db import DataError, Error, IntegrityError, InterfaceError, OperationalError
from django.db import Error as DatabaseFault
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions as drf

from config import errors as domain
from config.api.responses import error_response
from config.metrics import set_failure_cause
from config.postgresql.concurrency import RETRYABLE_SQLSTATES, sqlstate

logger = logging.getLogger(__name__)

SERVER_ERROR = "Server error."
CONCURRENT_CHANGE = "Another request is changing this at the moment. Send the request again."
UNAVAILABLE = "The service is busy at the moment. Send the request again."
RETRY_AFTER_SECONDS = 2
# SQLSTATE classes in which PostgreSQL could not work for us: connections, resources (such as a full disk), objects in
# use (a lock that was not free in time), intervention by an operator (a statement timeout, a restart), its files. And
# read_only_sql_transaction: the server is a standby, or has become one.
UNAVAILABLE_CLASSES = ("08", "53", "55", "57", "58", "25006")


class FaultResponse(NamedTuple):
    """The answer to a failed statement. The caller may try again after `retry_after` seconds."""

    status: int
    message: str
    retry_after: int | None = None


BUSY = FaultResponse(503, UNAVAILABLE, RETRY_AFTER_SECONDS)


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
    return isinstance(fault, Error) and sqlstate(fault) in RETRYABLE_SQLSTATES


def database_fault_response(fault: Error) -> FaultResponse:
    """Return the answer to a failed statement."""
    if is_unavailable(fault):
        return BUSY
    if isinstance(fault, IntegrityError) or is_race_lost(fault):
        return FaultResponse(409, CONCURRENT_CHANGE)
    if isinstance(fault, DataError):
        return FaultResponse(422, "A value is out of range.")
    return FaultResponse(500, SERVER_ERROR)


# No service is called for such a request.


class Refusal(Exception):
    """The request is answered with this status and sentence before any work is done."""

    status = 400
    message = "Bad request."

    def __init__(self, message: str | None = None, *, headers: Mapping[str, str] | None = None) -> None:
        self.message = message or self.message
        self.headers = dict(headers or {})
        super().__init__(self.message)


class BadRequest(Refusal):
    """The body or the query string cannot be read."""


class Unauthorized(Refusal):
    """The caller is unknown. The header keeps DRF and proxies from changing the answer."""

    status = 401
    message = "Invalid API key."

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message, headers={"WWW-Authenticate": "Bearer"})


class TooLarge(Refusal):
    status = 413
    message = "The body is larger than 1 MiB."


class UnsupportedMedia(Refusal):
    status = 415
    message = "Send the body as application/json in UTF-8."


class TooManyRequests(Refusal):
    """The caller is over the limit. `seconds` is the whole number of seconds until the window ends."""

    status = 429

    def __init__(self, seconds: int) -> None:
        super().__init__(f"Too many requests. Retry after {seconds} seconds.", headers={"Retry-After": str(seconds)})


NON_FIELD_KEY = "non_field_errors"
NAMELESS = frozenset({NON_FIELD_KEY, NON_FIELD_ERRORS, ""})


def _walk(detail: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(detail, Mapping):
        for name, below in detail.items():
            yield from _walk(below, _join(path, str(name)))
    elif isinstance(detail, list | tuple):
        for position, below in enumerate(detail):
            leaf = not isinstance(below, Mapping | list | tuple)
            yield from _walk(below, path if leaf else _join(path, str(position)))
    else:
        yield path or NON_FIELD_KEY, str(detail)


def _join(path: str, name: str) -> str:
    if name in NAMELESS:
        return path
    return f"{path}.{name}" if path else name


def flatten(detail: object) -> dict[str, list[str]]:
    """Turn nested errors into dotted paths: `{"owner": {"email": […]}}` becomes `{"owner.email": […]}`."""
    errors: dict[str, list[str]] = {}
    for path, sentence in _walk(detail, ""):
        errors.setdefault(path, []).append(sentence)
    return errors


def flatten_model_error(error: ModelValidationError) -> dict[str, list[str]]:
    return flatten(error.message_dict if hasattr(error, "error_dict") else error.messages)


def summary(errors: Mapping[str, list[str]]) -> str:
    """Return the first error's sentence and the number of further errors."""
    sentences = [sentence for found in errors.values() for sentence in found]
    more = len(sentences) - 1
    if more < 1:
        return sentences[0] if sentences else "The data is not valid."
    return f"{sentences[0]} (and {more} more error{'s' if more > 1 else ''})"


NOT_FOUND = domain.NotFound.message
FORBIDDEN = "You may not do this."
STATUS_BY_ERROR: tuple[tuple[type[domain.DomainError], int], ...] = (
    (domain.NotFound, 404),
    (domain.Forbidden, 403),
    (domain.Conflict, 409),
    (domain.InvalidInput, 422),
    (domain.FeatureDisabled, 503),
    (domain.DomainError, 409),
)


def _invalid(errors: dict[str, list[str]]) -> HttpResponse:
    return error_response(422, summary(errors), errors)


def _domain(error: domain.DomainError) -> HttpResponse:
    if isinstance(error, domain.InvalidInput):
        return _invalid(error.errors)
    answer = error_response(next(status for kind, status in STATUS_BY_ERROR if isinstance(error, kind)), error.message)
    set_failure_cause(answer, "unavailable")
    answer.__dict__["_has_been_logged"] = True  # a refusal is intended, even with 503, and no fault to log
    return answer


def _framework(error: drf.APIException, context: Mapping[str, Any]) -> HttpResponse:
    if isinstance(error, drf.ValidationError):
        return _invalid(flatten(error.detail))
    headers = {}
    if isinstance(error, drf.MethodNotAllowed):
        headers["Allow"] = ", ".join(context["view"].allowed_methods)
    message = NOT_FOUND if isinstance(error, drf.NotFound) else summary(flatten(error.detail))
    return error_response(error.status_code, message, headers=headers)


def _database(fault: DatabaseFault) -> HttpResponse:
    status, message, retry_after = database_fault_response(fault)
    log_fault(fault, logging.ERROR if retry_after is None else logging.WARNING)
    headers = None if retry_after is None else {"Retry-After": str(retry_after)}
    answer = error_response(status, message, {NON_FIELD_KEY: [message]} if status == 422 else None, headers)
    set_failure_cause(answer, "database")
    answer.__dict__["_has_been_logged"] = True
    return answer


def _django(error: Exception) -> HttpResponse | None:
    if isinstance(error, Http404):
        return error_response(404, NOT_FOUND)
    if isinstance(error, django_exceptions.PermissionDenied):
        return error_response(403, FORBIDDEN)
    if isinstance(error, django_exceptions.ValidationError):
        return _invalid(flatten_model_error(error))
    if isinstance(error, django_exceptions.RequestDataTooBig):
        return error_response(TooLarge.status, TooLarge.message)
    if isinstance(error, UnreadablePostError):
        return error_response(400, "The body could not be read.")
    if isinstance(error, django_exceptions.SuspiciousOperation | django_exceptions.BadRequest):
        return error_response(400, Refusal.message)
    return None


def _text_or_depth(error: Exception) -> HttpResponse | None:
    """Answer errors that strict reading should have prevented. They are logged, because it let them through."""
    if isinstance(error, RecursionError):
        log_fault(error, logging.WARNING)
        return error_response(400, "The body is nested too deeply.")
    if isinstance(error, UnicodeError):
        log_fault(error, logging.WARNING)
        message = "A text holds characters that cannot be stored."
        return error_response(422, message, {NON_FIELD_KEY: [message]})
    return None


def exception_handler(error: Exception, context: Mapping[str, Any]) -> HttpResponse:
    """Return the answer to any exception of a view; DRF's `EXCEPTION_HANDLER`. It never raises and never leaks."""
    if isinstance(error, Refusal):
        return error_response(error.status, error.message, headers=error.headers)
    if isinstance(error, domain.DomainError):
        return _domain(error)
    if isinstance(error, drf.APIException):
        return _framework(error, context)
    if isinstance(error, DatabaseFault):
        return _database(error)
    answer = _django(error) or _text_or_depth(error)
    if answer is None:
        log_fault(error)
        answer = error_response(500, SERVER_ERROR)
    return answer


@csrf_exempt
def path_not_found(request: HttpRequest) -> HttpResponse:
    """Answer 404 for paths below `/api/` that belong to no surface."""
    return error_response(404, NOT_FOUND)
