from django.apps import AppConfig

from config.hooks import load_hooks


class SubaccountsConfig(AppConfig):
    name = "workspaces.subaccounts"
    label = "subaccounts"
    verbose_name = "Sub-accounts"

    def ready(self) -> None:
        load_hooks(self)
