"""What packs add to the dashboard's menu."""

from django.utils.translation import gettext_lazy as _

from workspaces.subaccounts.dashboard.navigation import MenuEntry, register_menu_entry


def register() -> None:
    register_menu_entry(MenuEntry(url_name="app:gallery", label=_("Gallery"), icon="pack", order=10))
