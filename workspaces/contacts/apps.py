from django.apps import AppConfig

from config.hooks import load_hooks


class ContactsConfig(AppConfig):
    name = "workspaces.contacts"
    label = "contacts"
    verbose_name = "Contacts"

    def ready(self) -> None:
        load_hooks(self)
