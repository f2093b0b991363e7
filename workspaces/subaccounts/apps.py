from django.apps import AppConfig


class SubaccountsConfig(AppConfig):
    name = "workspaces.subaccounts"
    label = "subaccounts"
    verbose_name = "Sub-accounts"

    def ready(self) -> None:
        from workspaces.subaccounts import hooks

        hooks.register()
