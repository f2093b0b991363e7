"""Registers the app's menu entries, first step, activity labels, search and the starter pack of new customers."""

from collections.abc import Iterator

from django.db.models import Exists, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from agency.models import Agency
from agency.pages.registry import (
    ActivityAction,
    ActivityTarget,
    FirstStep,
    MenuEntry,
    Section,
    activity_actions,
    activity_targets,
    console_menu,
    dashboard_menu,
    first_steps,
)
from agency.pages.search import ConsoleAction, SearchResult, SearchSource, console_actions, search_sources
from agency.services.activity import RecordedAction, recorded_actions
from config.api.requests import parse_uuid
from packs.library import checks  # noqa: F401  # importing registers the system checks
from packs.models import Pack
from packs.pages.hub import PANELS as HUB_PANELS
from packs.services import give_starter_pack
from packs.services.recorded_fields import FIELDS as RECORDED_FIELDS
from workspaces.subaccounts.pages.hub import hub_panels
from workspaces.subaccounts.services import FirstChannelHandler, first_channel_handlers

ACTIONS = {
    "pack.created": _("Pack created"),
    "pack.changed": _("Pack edited"),
    "pack.removed": _("Pack removed"),
    "pack.installed": _("Pack installed"),
    "pack.unpublished": _("Pack unpublished"),
    "pack.entry_added": _("Automation added to a pack"),
    "pack.entry_changed": _("Automation of a pack edited"),
    "pack.entry_removed": _("Automation removed from a pack"),
    "pack.entries_ordered": _("Automations of a pack reordered"),
    "packs.ordered": _("Packs reordered"),
    "packs.visibility_changed": _("The service's own packs shown or hidden"),
}


def _has_published(agency: Agency) -> Exists:
    return Exists(Pack.objects.of(agency).published())


def found_packs(agency: Agency, query: str, most: int) -> Iterator[SearchResult]:
    uuid = parse_uuid(query)
    wanted = Q(uuid=uuid) if uuid else Q(name__icontains=query)
    for pack in Pack.objects.of(agency).filter(wanted).in_gallery_order()[:most]:
        address = reverse("console:pack", args=[pack.uuid])
        yield SearchResult(title=pack.name, detail=pack.get_status_display(), url=address)


first_channel_handlers.add(FirstChannelHandler("starter pack", give_starter_pack))
console_menu.add(
    MenuEntry(url_name="console:packs", label=_("Packs"), icon="pack", section=Section.CATALOGUE, order=30)
)
console_actions.add(ConsoleAction(url_name="console:pack-new", label=_("New pack"), order=40))
search_sources.add(SearchSource(name="packs", label=_("Packs"), order=50, find=found_packs))
dashboard_menu.add(
    MenuEntry(url_name="app:gallery", label=_("Gallery"), icon="pack", section=Section.AUTOMATION, order=10)
)
first_steps.add(
    FirstStep(
        title=_("Publish a pack"),
        text=_("Ready-made automations that your customers install in one click."),
        url_name="console:pack-new",
        action=_("New pack"),
        is_done=_has_published,
        order=35,
    )
)
recorded_actions.add(*RecordedAction.from_fields(RECORDED_FIELDS))
activity_actions.add(*ActivityAction.from_labels(ACTIONS))
activity_targets.add(ActivityTarget("pack", "console:pack"))
hub_panels.add(*HUB_PANELS)
