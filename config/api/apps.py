"""The Django app of the code that both API surfaces share. It owns the idempotency records."""

from wsgiref.types import WSGIEnvironment

from django.apps import AppConfig
from django.http import HttpRequest
from django.utils.http import parse_header_parameters


class APIConfig(AppConfig):
    name = "config.api"
    label = "api"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.core.handlers.wsgi import WSGIRequest

        from config.api.idempotency import RULES
        from config.retention import retention_rules

        retention_rules.add(*RULES)

        # Every server and the test client create requests of this class, so the class itself is changed.
        WSGIRequest._set_content_type_params = set_utf_8_content_type  # type: ignore[attr-defined]  # not among the stubs


def set_utf_8_content_type(request: HttpRequest, environment: WSGIEnvironment) -> None:
    """Read the content type, but not its charset for the request: requests are read as UTF-8.

    Django would decode the query string and forms with any codec that Python knows by name. Some of these (`hex`,
    `undefined`) decode no text at all, so the request would fail before any view sees it. The API itself refuses other
    charsets, and pages ask for UTF-8.
    """
    request.content_type, request.content_params = parse_header_parameters(environment.get("CONTENT_TYPE", ""))
