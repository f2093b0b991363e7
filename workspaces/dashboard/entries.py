"""What a workspace's own pages add to the dashboard's menu, and the activity log's labels of automations."""

from django.utils.translation import gettext_lazy as _

from agency.pages.registry import MenuEntry, dashboard_menu, label_actions

ENTRIES = [
    MenuEntry(url_name="app:automations", label=_("Automations"), icon="automation", order=20),
    MenuEntry(url_name="app:channels", label=_("Channels"), icon="connect", order=30),
    MenuEntry(url_name="app:prerequisites", label=_("Prerequisites"), icon="plan", order=90),
]
ACTIONS = {
    "automation.created": _("Automation created"),
    "automation.draft_saved": _("Automation edited"),
    "automation.renamed": _("Automation renamed"),
    "automation.published": _("Automation published"),
    "automation.removed": _("Automation removed"),
    "automation.installed": _("Automation installed from a pack"),
    "automation.slots_filled": _("Automation filled in"),
    "automation.switched_on": _("Automation switched on"),
    "automation.switched_off": _("Automation switched off"),
    "readiness.changed": _("Prerequisites changed"),
}


def register() -> None:
    dashboard_menu.add(*ENTRIES)
    label_actions(ACTIONS)
