from django.apps import AppConfig

from config.hooks import load_hooks


class MediaConfig(AppConfig):
    name = "workspaces.media"
    label = "media"
    verbose_name = "Media"

    def ready(self) -> None:
        load_hooks(self)
