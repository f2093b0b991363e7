from django.apps import AppConfig


class AutomationsConfig(AppConfig):
    name = "workspaces.automations"
    label = "automations"
    verbose_name = "Automations"

    def ready(self) -> None:
        from workspaces.automations import hooks

        hooks.register()
