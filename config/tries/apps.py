"""The Django app that counts tries of work."""

from django.apps import AppConfig


class TriesConfig(AppConfig):
    name = "config.tries"
    label = "tries"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from config.metrics import METRICS
        from config.retention import retention_rules
        from config.tries.counting import METRIC, RULES

        METRICS.add(METRIC)
        retention_rules.add(*RULES)
