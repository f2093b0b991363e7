from django.apps import AppConfig

from config.hooks import load_hooks


class ClassesConfig(AppConfig):
    name = "workspaces.classes"
    label = "classes"
    verbose_name = "Classes"

    def ready(self) -> None:
        load_hooks(self)
