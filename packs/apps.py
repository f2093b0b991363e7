from django.apps import AppConfig


class PacksConfig(AppConfig):
    name = "packs"
    verbose_name = "Automation packs"

    def ready(self) -> None:
        from packs.console import entries as console_entries
        from packs.dashboard import entries as dashboard_entries
        from packs.library import checks  # noqa: F401  # importing registers them
        from packs.services import give_starter_pack
        from workspaces.subaccounts.services import on_first_channel

        on_first_channel(give_starter_pack)
        console_entries.register()
        dashboard_entries.register()
