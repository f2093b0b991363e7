"""What automations add to the dashboard's menu and to the activity log."""

from django.utils.translation import gettext_lazy as _

from agency.console.activity_words import register_actions
from workspaces.subaccounts.dashboard.navigation import Entry, register_entry

ENTRIES = [
    Entry(url_name="app:automations", label=_("Automations"), icon="automation", order=20),
    Entry(url_name="app:prerequisites", label=_("Prerequisites"), icon="plan", order=90),
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
    for entry in ENTRIES:
        register_entry(entry)
    register_actions(ACTIONS)
