from django.apps import AppConfig

from config.hooks import load_hooks


class FinanceConfig(AppConfig):
    name = "workspaces.finance"
    label = "finance"
    verbose_name = "Finance"

    def ready(self) -> None:
        load_hooks(self)
