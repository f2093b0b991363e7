from django.apps import AppConfig


class AgencyConfig(AppConfig):
    name = "agency"
    verbose_name = "Agencies"

    def ready(self) -> None:
        """Hang the agency's own pages into the console's menu."""
        from agency.console.entries import register

        register()
