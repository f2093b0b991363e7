"""The Django app of what both surfaces share; it owns the idempotency records."""

from django.apps import AppConfig


class APIConfig(AppConfig):
    name = "config.api"
    label = "api"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.core.handlers.wsgi import WSGIRequest

        from config.api.charsets import take_utf_8_alone

        # Every server and the test client build this very class, so it is changed in place.
        WSGIRequest._set_content_type_params = take_utf_8_alone  # type: ignore[attr-defined]  # not among the stubs
