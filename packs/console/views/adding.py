"""Adding to a pack from the library, with its search and filters in the address."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from agency.pages.lists import Pages, read_pages
from config.db import name_key
from config.errors import Invalid
from packs.console.views.base import PackDetailView, channel_names
from packs.library import Industry, LibraryItem, library
from packs.models import PackEntry
from packs.models.entries import MOST_ENTRIES
from packs.services import add_library_entry
from workspaces.automations.flows.requirements import REQUIREMENTS
from workspaces.automations.flows.summary import summarize
from workspaces.subaccounts.models import CHANNEL_NAMES

NAMES = ("search", "industry", "channel", "requires", "ai")


@dataclass(frozen=True, slots=True)
class Filters:
    """What the library was asked for, as it was written in the address."""

    search: str
    industry: str
    channel: str
    requires: str
    ai: str

    @classmethod
    def of(cls, request: HttpRequest) -> "Filters":
        return cls(*(request.GET.get(name, "").strip() for name in NAMES))

    @property
    def any(self) -> bool:
        return any(getattr(self, name) for name in NAMES)

    def keep(self, item: LibraryItem) -> bool:
        text = name_key(f"{item.name} {item.description} {item.trigger_label}")
        return (
            name_key(self.search) in text
            and self.industry in {"", item.industry}
            and (not self.channel or self.channel in item.channels)
            and (not self.requires or self.requires in item.requires)
            and (not self.ai or item.ai == (self.ai == "yes"))
        )


class PackLibrary(PackDetailView):
    """The library, with what the pack holds already and why something cannot be added."""

    writers_only = True

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        filters = Filters.of(request)
        found = [item for item in library().items.values() if filters.keep(item)]
        pages = read_pages(request, len(found))
        held = list(self.pack.entries.only("template_id", "catch_all", "name_key"))
        return self.page(
            "packs/console/library.html",
            pack=self.pack,
            crumbs=self.crumbs(),
            rows=[self._row(item, held) for item in _of(pages, found)],
            pages=pages,
            filters=filters,
            industries=Industry.choices,
            channels=CHANNEL_NAMES.items(),
            requirements=REQUIREMENTS.items(),
            entry_count=len(held),
            max_entries=MOST_ENTRIES,
        )

    def _row(self, item: LibraryItem, held: list[PackEntry]) -> dict[str, Any]:
        return {
            "item": item,
            "channels": channel_names(item.channels),
            "requires": [REQUIREMENTS[name] for name in item.requires],
            "steps": summarize(item.flow),
            "obstacle": obstacle_of(item, held),
        }


def _of(pages: Pages, found: list[LibraryItem]) -> list[LibraryItem]:
    return found[pages.offset : pages.offset + pages.size]


def obstacle_of(item: LibraryItem, held: list[PackEntry]) -> str:
    """Say what keeps an automation out of the pack as it stands; nothing if it can be added."""
    if any(entry.template_id == item.id for entry in held):
        return _("In this pack")
    if len(held) >= MOST_ENTRIES:
        return _("The pack is full")
    if item.catch_all and any(entry.catch_all for entry in held):
        return _("The pack has one that answers everything")
    if any(entry.name_key == name_key(item.name) for entry in held):
        return _("The pack has one of this name")
    return ""


class EntryAdd(PackDetailView):
    """Adds an automation of the library and goes back to where the library stood."""

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        try:
            entry = add_library_entry(pack=self.pack, template_id=request.POST.get("template_id", ""), by=self.by)
        except Invalid as error:
            messages.error(request, error.message)
            return redirect(self._library(request))
        messages.success(request, _("%(name)s was added.") % {"name": entry.name})
        return redirect(self._library(request))

    def _library(self, request: HttpRequest) -> str:
        query = request.POST.get("query", "")
        address = reverse("console:pack-library", args=[self.pack.uuid])
        return f"{address}?{query}" if query else address
