"""The Django app of what both surfaces share; it owns the idempotency records."""

from django.apps import AppConfig


class APIConfig(AppConfig):
    name = "config.api"
    label = "api"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.core.handlers.wsgi import WSGIRequest

        from config.api.requests.charsets import set_utf_8_content_type

        # Every server and the test client build this very class, so the class itself is changed.
        WSGIRequest._set_content_type_params = set_utf_8_content_type  # type: ignore[attr-defined]  # not among the stubs
