from django.apps import AppConfig

from config.hooks import load_hooks


class BroadcastsConfig(AppConfig):
    name = "broadcasts"
    label = "broadcasts"
    verbose_name = "Broadcasts"

    def ready(self) -> None:
        load_hooks(self)
