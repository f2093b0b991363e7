"""What packs add to the dashboard's menu."""

from django.utils.translation import gettext_lazy as _

from workspaces.subaccounts.dashboard.navigation import Entry, register_entry


def register() -> None:
    register_entry(Entry(url_name="app:gallery", label=_("Gallery"), icon="pack", order=10))
