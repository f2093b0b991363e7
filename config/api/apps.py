"""The Django app of what both surfaces share; it owns the idempotency records."""

from django.apps import AppConfig


class APIConfig(AppConfig):
    name = "config.api"
    label = "api"
    default_auto_field = "django.db.models.BigAutoField"
