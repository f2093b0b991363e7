"""The Django app that knows which database the workers have worked with."""

from django.apps import AppConfig


class RecoveryConfig(AppConfig):
    name = "config.recovery"
    label = "recovery"
    default_auto_field = "django.db.models.BigAutoField"
