"""Turns every error into an answer, `{message}` or `{message, errors}`, and gives domain errors their status."""

import logging
from collections.abc import Mapping
from typing import Any

from django.core import exceptions as django_exceptions
from django.db import Error as DatabaseFault
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions as drf

from config import errors as domain
from config.api.errors import faults
from config.api.errors.refusals import Refusal, TooLarge
from config.api.errors.validation import WHOLE, flatten, flatten_model_error, summary
from config.api.responses.json import error_response
from config.metrics.middleware import mark_cause

NOT_FOUND = domain.NotFound.message
FORBIDDEN = "You may not do this."
KINDS: tuple[tuple[type[domain.DomainError], int], ...] = (
    (domain.NotFound, 404),
    (domain.Forbidden, 403),
    (domain.Conflict, 409),
    (domain.Invalid, 422),
    (domain.Unavailable, 503),
    (domain.DomainError, 409),
)


def _invalid(errors: dict[str, list[str]]) -> HttpResponse:
    return error_response(422, summary(errors), errors)


def _domain(error: domain.DomainError) -> HttpResponse:
    if isinstance(error, domain.Invalid):
        return _invalid(error.errors)
    answer = error_response(next(status for kind, status in KINDS if isinstance(error, kind)), error.message)
    mark_cause(answer, "unavailable")
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
    status, message, retry_after = faults.database_fault_response(fault)
    faults.log_fault(fault, logging.ERROR if retry_after is None else logging.WARNING)
    headers = None if retry_after is None else {"Retry-After": str(retry_after)}
    answer = error_response(status, message, {WHOLE: [message]} if status == 422 else None, headers)
    mark_cause(answer, "database")
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
        faults.log_fault(error, logging.WARNING)
        return error_response(400, "The body is nested too deeply.")
    if isinstance(error, UnicodeError):
        faults.log_fault(error, logging.WARNING)
        message = "A text holds characters that cannot be stored."
        return error_response(422, message, {WHOLE: [message]})
    return None


def answer_exception(error: Exception, context: Mapping[str, Any]) -> HttpResponse:
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
        faults.log_fault(error)
        answer = error_response(500, faults.SERVER_ERROR)
    return answer


@csrf_exempt
def path_not_found(request: HttpRequest) -> HttpResponse:
    """Answer 404 for paths below `/api/` that belong to no surface."""
    return error_response(404, NOT_FOUND)
