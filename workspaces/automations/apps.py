from django.apps import AppConfig

from config.hooks import load_hooks


class AutomationsConfig(AppConfig):
    name = "workspaces.automations"
    label = "automations"
    verbose_name = "Automations"

    def ready(self) -> None:
        load_hooks(self)
