"""The gallery in the customers' dashboard: packs that a customer is offered, and installing them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agency.pages.forms import ConfirmationForm
from agency.pages.pagination import read_pages
from agency.pages.tables import Filter, ListPage, Table
from config.api.requests import parse_uuid
from packs.library import Industry
from packs.services import gallery_of, install_pack
from packs.services.errors import PackNotFound
from packs.services.installs import GalleryEntry, GalleryPack, connected_platforms
from packs.services.new_versions import (
    NewVersion,
    decline_new_version,
    find_new_version,
    take_new_version,
    with_new_version,
)
from packs.services.offered_packs import OfferedPack, flows_of, reasons_entry_cannot_run
from workspaces.automations.dashboard.editor import EditorPage
from workspaces.automations.dashboard.notices import AutomationNotice
from workspaces.automations.dashboard.publishing import PUBLISH
from workspaces.automations.flows.differences import differences
from workspaces.automations.flows.flow import Flow, open_slots, step_title
from workspaces.automations.flows.presentation import StepSummary, summarize, translated_step_title
from workspaces.automations.flows.types import REQUIREMENTS
from workspaces.automations.models import Automation
from workspaces.automations.services import requirement_url_name
from workspaces.subaccounts.dashboard.base import DashboardForm, DashboardView
from workspaces.subaccounts.models import CHANNEL_NAMES
from workspaces.subaccounts.services import settings_in_texts

GALLERY = "app:gallery"
PACK = "app:pack"
AUTOMATION = "app:automation"
NEW_VERSION = "app:automation-new-version"
LONGEST_DIGEST = 64
MOST_CHOSEN = 100


@dataclass(frozen=True, slots=True)
class PackRow:
    """A pack as the gallery shows it. `barred` automations of it cannot run yet."""

    pack: GalleryPack
    barred: int = 0

    @property
    def industry(self) -> str:
        found = self.pack.offered.industry
        return str(Industry(found).label) if found else ""

    @property
    def optional(self) -> int:
        return sum(entry.offered.tier == "optional" for entry in self.pack.entries)

    @property
    def installed(self) -> int:
        return sum(entry.installed is not None for entry in self.pack.entries)


@dataclass(frozen=True, slots=True)
class EntryRow:
    """An automation of a pack as its page shows it: `channel` is what it is, or would be, installed on.

    `barred` says why it cannot run yet there, or on any of its channel types.
    """

    entry: GalleryEntry
    channel: str
    channels: list[str]
    requires: list[tuple[str, bool, str]]
    slots: list[tuple[str, str]]
    steps: list[StepSummary]
    barred: list[str]

    @property
    def can_add(self) -> bool:
        return self.entry.fits and self.entry.installed is None


def entry_row(entry: GalleryEntry, platforms: list[str], flow: Flow | None, settings: dict[str, str]) -> EntryRow:
    kinds = entry.offered.channels
    platform = entry.installed.platform if entry.installed else next((kind for kind in platforms if kind in kinds), "")
    return EntryRow(
        entry=entry,
        channel=CHANNEL_NAMES.get(platform, ""),
        channels=[CHANNEL_NAMES[kind] for kind in kinds],
        requires=[
            (_(REQUIREMENTS[name]), name not in entry.missing, requirement_url_name(name))
            for name in entry.offered.requires
        ],
        slots=[(translated_step_title(slot["step"]), _(slot["label"])) for slot in entry.offered.slots],
        steps=summarize(flow, settings) if flow else [],
        barred=reasons_entry_cannot_run(flow, [platform] if platform else kinds, entry.offered.slots) if flow else [],
    )


def barred_entries(pack: OfferedPack, flows: Mapping[UUID, Flow]) -> int:
    """Count the automations of a pack that the product cannot run on any of their channel types."""
    known = [entry for entry in pack.entries if entry.uuid in flows]
    return sum(bool(reasons_entry_cannot_run(flows[one.uuid], one.channels, one.slots)) for one in known)


def is_found(pack: GalleryPack, search: str, channel: str) -> bool:
    """Say whether a pack holds the text (in lower case) and something for the channel type; blank ones hold for all."""
    texts = (pack.offered.shown_name, pack.offered.shown_summary, *(entry.offered.name for entry in pack.entries))
    return any(search in text.casefold() for text in texts) and (
        channel not in CHANNEL_NAMES or any(channel in entry.offered.channels for entry in pack.entries)
    )


class Gallery(ListPage, DashboardView):
    """Every pack on offer, in the order that the agency decided; found by its texts, automations or a channel type."""

    nav = GALLERY
    table = Table(
        caption=gettext_lazy("Packs"),
        columns=(),
        filters=(
            Filter(name="search", label=gettext_lazy("Search"), placeholder=gettext_lazy("Pack or automation")),
            Filter(
                name="channel",
                label=gettext_lazy("Channel"),
                is_choice=True,
                choices=[(kind, capfirst(name)) for kind, name in CHANNEL_NAMES.items()],
            ),
        ),
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        state = self.read_table()
        search, channel = state.values["search"].casefold(), state.values["channel"]
        found = [pack for pack in gallery_of(workspace=self.workspace) if is_found(pack, search, channel)]
        pages = read_pages(request, len(found))
        shown = found[pages.offset : pages.offset + pages.size]
        flows = flows_of(*(pack.offered for pack in shown))
        rows = [PackRow(pack, barred_entries(pack.offered, flows)) for pack in shown]
        return self.list_page("packs/dashboard/gallery.html", state.show(rows, pages))


class PackDetailView(DashboardView):
    """A page about one pack of the gallery; what is not offered is not found."""

    nav = GALLERY

    def find(self, uuid: UUID | None) -> GalleryPack:
        found = next((pack for pack in gallery_of(workspace=self.workspace) if pack.offered.uuid == uuid), None)
        if found is None:
            raise PackNotFound
        return found


class PackPage(PackDetailView):
    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        pack = self.find(uuid)
        platforms = connected_platforms(self.workspace)
        flows = flows_of(pack.offered)
        settings = settings_in_texts(self.workspace)
        entry_rows = [entry_row(entry, platforms, flows.get(entry.offered.uuid), settings) for entry in pack.entries]
        return self.page(
            "packs/dashboard/pack.html",
            row=PackRow(pack),
            pack=pack,
            entry_rows=entry_rows,
            has_channel=bool(platforms),
        )


class PackInstall(PackDetailView):
    """Adds the chosen automations that are not there yet; without a choice all of them."""

    keeps_form_data = True
    form_page = PACK

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        pack = self.find(uuid)
        chosen = {found for one in request.POST.getlist("entry")[:MOST_CHOSEN] if (found := parse_uuid(one))}
        if "choosing" in request.POST and not chosen:
            messages.warning(request, _("Choose at least one automation."))
            return redirect(PACK, pack.offered.uuid)
        picked = chosen if "choosing" in request.POST else None
        done = install_pack(
            workspace=self.workspace, pack=pack.offered.uuid, entries=picked, now=timezone.now(), by=self.by
        )
        number = len(done.added)
        if not number:
            messages.warning(request, _("Nothing was added. You already have everything that fits your channels."))
            return redirect(PACK, pack.offered.uuid)
        message = ngettext(
            "%(number)s automation was added, switched off. Open it to fill it in and switch it on.",
            "%(number)s automations were added, switched off. Open each to fill it in and switch it on.",
            number,
        )
        return self.done(message % {"number": number}, PACK, pack.offered.uuid)


class AutomationNewVersion(EditorPage, DashboardForm[ConfirmationForm]):
    """Shows what a pack's newer version would change in an automation, and takes it over or declines it."""

    template_name = "packs/dashboard/new_version.html"
    keeps_form_data = False
    found: NewVersion

    def find(self, **ids: UUID | None) -> None:
        super().find(**ids)
        self.found = find_new_version(self.automation)

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        version = self.request.POST.get("version", "")[:LONGEST_DIGEST]
        if "decline" in self.request.POST:
            decline_new_version(automation=self.automation, version=version, by=self.by)
            return self.done(_("You will not be offered this version again."), AUTOMATION, self.automation.uuid)
        taken = take_new_version(
            automation=self.automation, seen=self.seen, version=version, now=timezone.now(), by=self.by
        )
        is_open = bool(open_slots(taken.draft, taken.slots))
        message = _("The new version is in your draft.") + " "
        message += _("Fill in the missing values.") if is_open else _("Publish it to put it to work.")
        return self.done(message, AUTOMATION if is_open else PUBLISH, taken.uuid)

    def context(self) -> dict[str, object]:
        automation, merged = self.automation, self.found.merged
        titles = {node: translated_step_title(step_title(merged.flow, node)) for node in merged.conflicts}
        return {
            "automation": automation,
            "seen": self.seen,
            "version": self.found.digest,
            "pack_name": automation.from_pack_name,
            "differences": differences(automation.draft, merged.flow, self.inputs.name_of),
            "conflicts": list(titles.values()),
            "loses_steps": merged.loses_steps,
        }


def new_version_notices(automations: Sequence[Automation]) -> dict[int, AutomationNotice]:
    """Give a notice for each automation that has a newer version."""
    found = {one.pk: one for one in automations}
    return {
        pk: AutomationNotice(
            badge=_("New version"),
            text=_("The pack %(name)s has a newer version of this automation.") % {"name": found[pk].from_pack_name},
            url=reverse(NEW_VERSION, args=[found[pk].uuid]),
            action=_("Review changes"),
        )
        for pk in with_new_version(automations)
    }


urlpatterns = [
    path("automations/<id:uuid>/new-version", AutomationNewVersion.as_view(), name="automation-new-version"),
    path("gallery", Gallery.as_view(), name="gallery"),
    path("gallery/<id:uuid>", PackPage.as_view(), name="pack"),
    path("gallery/<id:uuid>/install", PackInstall.as_view(), name="pack-install"),
]
