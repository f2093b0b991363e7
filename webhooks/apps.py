from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "webhooks"
    verbose_name = "Webhooks"

    def ready(self) -> None:
        from config.api.documents.events import register_events
        from webhooks.console.entries import register
        from webhooks.descriptions import agency_events

        register_events("agency", agency_events)
        register()
