from django.apps import AppConfig

from config.hooks import load_hooks


class AgencyConfig(AppConfig):
    name = "agency"
    verbose_name = "Agencies"

    def ready(self) -> None:
        load_hooks(self)
