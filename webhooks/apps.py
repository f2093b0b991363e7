from django.apps import AppConfig

from config.hooks import load_hooks


class WebhooksConfig(AppConfig):
    name = "webhooks"
    verbose_name = "Webhooks"

    def ready(self) -> None:
        load_hooks(self)
