"""Registers the app's menu entries, first step, activity labels and fields, search, panel and starter packs."""

from collections.abc import Iterator
from typing import Final

from django.db.models import Count, Exists, Max, Min, Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agency.models import Agency
from agency.pages.help import CONSOLE, Guide, guides
from agency.pages.registry import (
    ActivityAction,
    ActivityDetail,
    ActivityTarget,
    FirstStep,
    MenuEntry,
    Section,
    activity_actions,
    activity_details,
    activity_targets,
    console_menu,
    dashboard_menu,
    first_steps,
)
from agency.pages.search import ConsoleAction, SearchResult, SearchSource, console_actions, search_sources
from agency.services.activity import RecordedAction, RecordedField, ValueFormat, recorded_actions
from config.api.requests import parse_uuid
from packs.dashboard import new_version_notices
from packs.library import (
    Industry,
    validation,  # noqa: F401  # importing registers the system checks
)
from packs.models import Pack, PackEntry
from packs.services import give_starter_pack
from workspaces.automations.dashboard.notices import AutomationNoticeSource, automation_notices
from workspaces.automations.flows.types import REQUIREMENTS
from workspaces.automations.models import Automation
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.models.workspaces import BusinessType
from workspaces.subaccounts.pages.registry import (
    Column,
    HubAction,
    HubContent,
    HubPanel,
    HubRow,
    hub_panels,
    opened_as_customer,
)
from workspaces.subaccounts.services import FirstChannelHandler, first_channel_handlers


def _rows(workspace: Workspace, most: int) -> Iterator[HubRow]:
    """Yield a row for each installed pack. It has the pack's name at the install, as the pack may be gone."""
    own = Automation.objects.filter(workspace=workspace, from_pack__isnull=False).order_by()
    packs = own.values("from_pack").annotate(
        name=Max("from_pack_name"),
        held=Count("pk"),
        on=Count("pk", filter=Q(enabled=True)),
        since=Min("created_at"),
        version=Max("published__number"),
    )
    for pack in packs.order_by("-since", "from_pack")[:most]:
        held = ngettext("%(count)s automation, %(on)s on", "%(count)s automations, %(on)s on", pack["held"])
        shown = held % {"count": pack["held"], "on": pack["on"]}
        version = _("up to version %(number)s") % {"number": pack["version"]} if pack["version"] else ""
        yield HubRow(title=pack["name"], detail=" · ".join(filter(None, [shown, version])), at=pack["since"])


def packs_panel(workspace: Workspace, most: int) -> HubContent:
    install = HubAction(label=_("Install a pack"), url=reverse("console:pack-install-for", args=[workspace.uuid]))
    return HubContent(
        rows=_rows(workspace, most),
        empty=_("None."),
        actions=[
            *([install] if workspace.is_active else []),
            *opened_as_customer(workspace, "app:automations", label=_("Open Automations as customer")),
        ],
    )


HUB_PANELS: Final = (
    HubPanel(name="packs", label=gettext_lazy("Packs"), order=20, content=packs_panel, column=Column.SIDE),
)


REQUIRED = tuple((name, gettext_lazy(label)) for name, label in REQUIREMENTS.items())

RECORDED_FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "pack.changed": (
        RecordedField("name", gettext_lazy("Name")),
        RecordedField("summary", gettext_lazy("Summary")),
        RecordedField("industry", gettext_lazy("Industry"), choices=Industry.choices),
        RecordedField("business_type", gettext_lazy("Business type"), choices=BusinessType.choices),
        RecordedField("status", gettext_lazy("Status"), choices=Pack.Status.choices),
    ),
    "pack.entry_changed": (
        RecordedField("name_override", gettext_lazy("Name")),
        RecordedField("description_override", gettext_lazy("Description")),
        RecordedField("tier", gettext_lazy("Tier"), choices=PackEntry.Tier.choices),
        RecordedField(
            "requires", gettext_lazy("What a customer must have before it can be switched on"), choices=REQUIRED
        ),
    ),
    "packs.visibility_changed": (
        RecordedField("replace_platform", gettext_lazy("Only your own packs are shown"), ValueFormat.SWITCH),
    ),
}


ACTIONS = {
    "pack.created": gettext_lazy("Pack created"),
    "pack.changed": gettext_lazy("Pack edited"),
    "pack.removed": gettext_lazy("Pack removed"),
    "pack.installed": gettext_lazy("Pack installed"),
    "pack.unpublished": gettext_lazy("Pack unpublished"),
    "pack.entry_added": gettext_lazy("Automation added to a pack"),
    "pack.entry_changed": gettext_lazy("Automation of a pack edited"),
    "pack.entry_copied_anew": gettext_lazy("Automation of a pack copied again"),
    "pack.entry_removed": gettext_lazy("Automation removed from a pack"),
    "pack.entries_ordered": gettext_lazy("Automations of a pack reordered"),
    "packs.ordered": gettext_lazy("Packs reordered"),
    "packs.visibility_changed": gettext_lazy("The service's own packs shown or hidden"),
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
    MenuEntry(url_name="console:packs", label=gettext_lazy("Packs"), icon="pack", section=Section.CATALOGUE, order=30)
)
console_actions.add(ConsoleAction(url_name="console:pack-new", label=gettext_lazy("New pack"), order=40))
search_sources.add(SearchSource(name="packs", label=gettext_lazy("Packs"), order=50, find=found_packs))
dashboard_menu.add(
    MenuEntry(url_name="app:gallery", label=gettext_lazy("Gallery"), icon="pack", section=Section.AUTOMATION, order=10)
)
first_steps.add(
    FirstStep(
        title=gettext_lazy("Publish a pack"),
        text=gettext_lazy("Ready-made automations that your customers install in one click."),
        url_name="console:pack-new",
        action=gettext_lazy("New pack"),
        is_done=_has_published,
        order=35,
    )
)
recorded_actions.add(*RecordedAction.from_fields(RECORDED_FIELDS))
activity_actions.add(*ActivityAction.from_labels(ACTIONS, gettext_lazy("Packs")))
activity_details.add(
    ActivityDetail("pack.automations", gettext_lazy("Automations")),
    ActivityDetail("pack.entry"),
    ActivityDetail("pack.source", gettext_lazy("Source"), PackEntry.Source.choices),
    ActivityDetail("pack.sub-account", gettext_lazy("Sub-account")),
)
activity_targets.add(ActivityTarget("pack", "console:pack"))
hub_panels.add(*HUB_PANELS)
automation_notices.add(AutomationNoticeSource("new versions", new_version_notices))
guides.add(
    Guide(
        area=CONSOLE,
        slug="packs",
        title=gettext_lazy("Packs"),
        summary=gettext_lazy("Offer your customers ready-made automations."),
        picture=gettext_lazy("The page of a pack with one automation, and the buttons to add more and to publish it."),
        order=40,
        pages=("packs", "ai-accounts"),
        related=("sub-accounts", "channel-connect"),
    )
)
