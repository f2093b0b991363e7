"""What channel connect adds to the console: menu, a first step, and words of the activity log."""

from django.utils.translation import gettext_lazy as _

from agency.console.activity_words import register_actions
from agency.console.navigation import Entry, Section, register_entry

NAV = "console:channel-connect"
ACTIONS = {
    "connect.turned_on": _("Channel connect switched on"),
    "connect.turned_off": _("Channel connect switched off"),
    "connect.return_urls_changed": _("Return URLs changed"),
    "connect.started": _("Channel connection started"),
    "connect.connected": _("Channel connection completed"),
    "connect.failed": _("Channel connection failed"),
    "connect.cancelled": _("Channel connection cancelled"),
    "connect.expired": _("Channel connection expired"),
    "channel.lost": _("Channel lost at the provider"),
}


def register() -> None:
    register_entry(
        Entry(url_name=NAV, label=_("Channel connect"), icon="plug", section=Section.CONFIGURATION, order=30)
    )
    register_actions(ACTIONS)
