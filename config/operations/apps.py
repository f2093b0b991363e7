"""The Django app of the operators' commands and checks. It stands above every other app."""

from django.apps import AppConfig


class OperationsConfig(AppConfig):
    name = "config.operations"
    label = "operations"

    def ready(self) -> None:
        from config.garbage import resume_collection
        from config.metrics import METRICS
        from config.operations import checks  # noqa: F401  # registers the system checks once the models are there
        from config.operations.metrics.hosts import HOST_METRICS
        from config.operations.metrics.queues import QUEUE_METRICS
        from config.operations.metrics.servers import SERVER_METRICS

        METRICS.add(*SERVER_METRICS, *QUEUE_METRICS, *HOST_METRICS)
        resume_collection()
