"""Requests are read as UTF-8, whatever charset they claim."""

from typing import Any

from django.http import HttpRequest
from django.utils.http import parse_header_parameters


def set_utf_8_content_type(request: HttpRequest, environment: dict[str, Any]) -> None:
    """Read the content type without making its charset the request's own.

    Django would decode the query string and forms with any codec that Python knows by name, some of which
    (`hex`, `undefined`) decode no text at all: the request would end in a fault before any view has seen it.
    The API refuses other charsets by itself, and pages ask for UTF-8.
    """
    request.content_type, request.content_params = parse_header_parameters(environment.get("CONTENT_TYPE", ""))
