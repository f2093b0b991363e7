from django.apps import AppConfig

from config.hooks import load_hooks


class ChannelConnectConfig(AppConfig):
    name = "channelconnect"
    verbose_name = "Channel connect"

    def ready(self) -> None:
        load_hooks(self)
