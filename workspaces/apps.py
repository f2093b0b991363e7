from django.apps import AppConfig


class WorkspacesConfig(AppConfig):
    name = "workspaces"
    verbose_name = "Sub-accounts"

    def ready(self) -> None:
        """Hang the pages about sub-accounts into the console's menu."""
        from workspaces.console.entries import register

        register()
