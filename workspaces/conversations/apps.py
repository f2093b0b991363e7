from django.apps import AppConfig

from config.hooks import load_hooks


class ConversationsConfig(AppConfig):
    name = "workspaces.conversations"
    label = "conversations"
    verbose_name = "Conversations"

    def ready(self) -> None:
        load_hooks(self)
