from django.apps import AppConfig

from config.hooks import load_hooks


class CatalogueConfig(AppConfig):
    name = "workspaces.catalogue"
    label = "catalogue"
    verbose_name = "Catalogue"

    def ready(self) -> None:
        load_hooks(self)
