"""The Django app of the operators' commands and checks, and the one in place of `django.contrib.admin`.

The app of the commands and checks stands above every other app.
"""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig
from django.db.models.signals import post_migrate


class OperationsConfig(AppConfig):
    name = "config.operations"
    label = "operations"

    def ready(self) -> None:
        from config.garbage_collection import resume_collection
        from config.metrics import METRICS
        from config.operations import checks  # noqa: F401  # registers the system checks once the models are there
        from config.operations.support_groups import make_support_groups
        from config.operations.system_metrics import HOST_METRICS, QUEUE_METRICS, SERVER_METRICS

        post_migrate.connect(make_support_groups, dispatch_uid="operations.support_groups")
        METRICS.add(*SERVER_METRICS, *QUEUE_METRICS, *HOST_METRICS)
        resume_collection()


class SupportAdminConfig(AdminConfig):
    default_site = "config.operations.site.SupportSite"

    def ready(self) -> None:
        from config.operations.site import name_fields

        name_fields()
        super().ready()
