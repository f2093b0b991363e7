from django.apps import AppConfig


class ChannelConnectConfig(AppConfig):
    name = "channelconnect"
    verbose_name = "Channel connect"
