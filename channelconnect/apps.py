from django.apps import AppConfig


class ChannelConnectConfig(AppConfig):
    name = "channelconnect"
    verbose_name = "Channel connect"

    def ready(self) -> None:
        from channelconnect.console.entries import register
        from channelconnect.descriptions import connection_events
        from channelconnect.events import register_source
        from config.api.documents.events import register_events

        register_source()
        register_events("agency", connection_events)
        register()
