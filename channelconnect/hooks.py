"""What channel connect adds elsewhere: its events, a line of the console's menu, labels of the activity log."""

from django.utils.translation import gettext_lazy as _

from agency.pages.registry import (
    MenuEntry,
    Section,
    console_menu,
    label_actions,
)
from channelconnect.event_schemas import connection_events
from channelconnect.events import SOURCE
from config.api.documents.events import DocumentedEvents, documented_events
from webhooks.services import event_sources

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

event_sources.add(SOURCE)
documented_events.add(DocumentedEvents("channelconnect", "agency", connection_events))
console_menu.add(
    MenuEntry(
        url_name="console:channel-connect",
        label=_("Channel connect"),
        icon="plug",
        section=Section.CONFIGURATION,
        order=30,
    )
)
label_actions(ACTIONS)
