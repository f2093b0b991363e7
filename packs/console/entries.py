"""What packs add to the console: menu, a first step, and words of the activity log."""

from django.utils.translation import gettext_lazy as _

from agency.console.activity_words import register_actions, register_page
from agency.console.navigation import Entry, Section, register_entry
from agency.console.overview import Step, register_step
from agency.models import Agency
from packs.models import Pack

ACTIONS = {
    "pack.created": _("Pack created"),
    "pack.changed": _("Pack edited"),
    "pack.removed": _("Pack removed"),
    "pack.unpublished": _("Pack unpublished"),
    "pack.entry_added": _("Automation added to a pack"),
    "pack.entry_changed": _("Automation of a pack edited"),
    "pack.entry_removed": _("Automation removed from a pack"),
    "pack.entries_ordered": _("Automations of a pack reordered"),
    "packs.ordered": _("Packs reordered"),
    "packs.visibility_changed": _("The service's own packs shown or hidden"),
}


def _has_published(agency: Agency) -> bool:
    return Pack.objects.of(agency).published().exists()


def register() -> None:
    register_entry(Entry(url_name="console:packs", label=_("Packs"), icon="pack", section=Section.CATALOGUE, order=30))
    register_step(
        Step(
            title=_("Publish a pack"),
            text=_("Ready-made automations that your customers install in one click."),
            url_name="console:packs",
            action=_("Packs"),
            is_done=_has_published,
            order=35,
        )
    )
    register_actions(ACTIONS)
    register_page("pack", "console:pack")
