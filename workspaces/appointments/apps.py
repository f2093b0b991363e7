from django.apps import AppConfig

from config.hooks import load_hooks


class AppointmentsConfig(AppConfig):
    name = "workspaces.appointments"
    label = "appointments"
    verbose_name = "Appointments"

    def ready(self) -> None:
        load_hooks(self)
