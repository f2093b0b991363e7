from django.apps import AppConfig

from config.hooks import load_hooks


class PacksConfig(AppConfig):
    name = "packs"
    verbose_name = "Automation packs"

    def ready(self) -> None:
        load_hooks(self)
