from django.apps import AppConfig


class WorkspacesConfig(AppConfig):
    name = "workspaces"
    verbose_name = "Sub-accounts"

    def ready(self) -> None:
        """Hang the pages about sub-accounts into the console's menu, and a workspace's own into the dashboard's."""
        from workspaces.console import entries as console_entries
        from workspaces.dashboard import entries as dashboard_entries

        console_entries.register()
        dashboard_entries.register()
