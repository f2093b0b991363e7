"""The console's editor of a pack's automations, and the page that adds automations of the library."""

from collections.abc import Mapping
from datetime import UTC
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.base import FormPage
from agency.pages.branding import in_page_language
from agency.pages.charts import ChartSource, Period, Series, draw
from agency.pages.forms import ConfirmationForm
from agency.pages.pagination import NumberedPages, read_pages
from agency.pages.tables import Filter, ListPage, Table
from config.db import name_key
from config.errors import InvalidInput
from packs.console.base import (
    LIBRARY,
    LIST,
    PACK,
    EntryForm,
    PackDetailView,
    channel_names,
    posted_order,
    redirect_to_moved,
    translated_slots,
)
from packs.library import Industry, LibraryItem, library
from packs.models import MOST_ENTRIES, Pack, PackEntry
from packs.services import (
    add_library_entry,
    change_entry,
    find_entry,
    order_entries,
    read_entry_view,
    read_pack_view,
    remove_entry,
)
from packs.services.errors import NotInOrder
from packs.services.offered_packs import flows_of_view, reasons_entry_cannot_run
from packs.services.queries import PackView
from packs.services.results import results_of
from workspaces.automations.flows.presentation import summarize
from workspaces.automations.flows.types import REQUIREMENTS
from workspaces.subaccounts.models import CHANNEL_NAMES

SERIES: Final = (
    ("started", gettext_lazy("Runs"), "plain"),
    ("messages", gettext_lazy("Messages"), "good"),
    ("failed", gettext_lazy("Failed"), "bad"),
)
CHART: Final = ChartSource(
    name="pack_results", label=gettext_lazy("Each day"), order=0, url_name=LIST, series=lambda _agency, _period: ()
)


class PackPage(PackDetailView):
    """Shows the editor."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        view = read_pack_view(self.pack)
        barred = self._barred(view)
        entries = [
            (
                entry,
                channel_names(entry.channels),
                [_(REQUIREMENTS[name]) for name in entry.requires],
                barred.get(entry.uuid, []),
                translated_slots(entry.slots),
            )
            for entry in view.entries
        ]
        now = timezone.now()
        results = results_of(self.pack, view.entries, now.astimezone(UTC).date())
        return self.page(
            "packs/console/pack.html",
            pack=self.pack,
            results=results,
            result_rows=[*results.entries, *([results.removed] if results.removed.installs else [])],
            chart=draw(
                CHART,
                [Series(label=label, counts=results.days[name], look=look) for name, label, look in SERIES],
                Period.named("30d", now),
            ),
            entries=entries,
            order=",".join(str(entry.uuid) for entry in view.entries),
            installed_in=view.installed_in,
            max_entries=MOST_ENTRIES,
            is_full=len(entries) >= MOST_ENTRIES,
            missing=sum(entry.missing for entry in view.entries),
            barred=sum(bool(reasons) for reasons in barred.values()),
        )

    def _barred(self, view: PackView) -> dict[UUID, list[str]]:
        """Give the reasons why automations of the pack cannot run yet, by entry."""
        flows = flows_of_view(view)
        known = [entry for entry in view.entries if entry.uuid in flows]
        return {one.uuid: reasons_entry_cannot_run(flows[one.uuid], one.channels, one.slots) for one in known}


class EntriesOrder(PackDetailView):
    form_page = PACK

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        try:
            order_entries(pack=self.pack, order=posted_order(request), by=self.by)
        except NotInOrder:
            messages.warning(request, _("An automation was removed in the meantime, so the order did not change."))
        return redirect_to_moved(request, PACK, self.pack.uuid)


class EntryDetailView(PackDetailView):
    """A page about one automation of a pack."""

    entry: PackEntry

    def find(self, **ids: UUID | None) -> None:
        super().find(**ids)
        self.entry = find_entry(pack=self.pack, uuid=ids["entry"])
        self.view = read_entry_view(self.entry)


class EntryEdit(EntryDetailView, FormPage[EntryForm]):
    def make_form(self, data: Mapping[str, object] | None = None) -> EntryForm:
        return EntryForm(data, entry=self.view)

    def save(self, form: EntryForm) -> HttpResponse:
        changed = change_entry(entry=self.entry, by=self.by, **form.changes())
        message = _("%(name)s was saved. Customers who already have it keep theirs as it is.")
        return self.done(message % {"name": read_entry_view(changed).name}, PACK, self.pack.uuid)

    def context(self) -> dict[str, object]:
        heading = _("Edit %(name)s") % {"name": self.view.name}
        return {"crumbs": self.crumbs(), "heading": heading, "submit": _("Save")}


class EntryRemove(EntryDetailView, FormPage[ConfirmationForm]):
    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        removal = remove_entry(entry=self.entry, by=self.by)
        message = _("%(name)s was removed.") % {"name": self.view.name}
        if not removal.unpublished:
            return self.done(message, PACK, self.pack.uuid)
        message += " " + _(
            "It was the pack's last automation, so the pack was unpublished. Customers no longer see it."
        )
        messages.warning(self.request, message)
        return redirect(PACK, self.pack.uuid)

    def context(self) -> dict[str, object]:
        is_last = self.pack.status == Pack.Status.PUBLISHED and self.pack.entries.count() == 1
        return {
            "crumbs": self.crumbs(),
            "heading": _("Remove %(name)s?") % {"name": self.view.name},
            "text": _("Later installs do not include it. Customers who already have it keep theirs as it is."),
            "warning": _("This is the pack's last automation. Removing it also unpublishes the pack.")
            if is_last
            else "",
            "submit": _("Remove automation"),
            "danger": True,
        }


MOST_CHOSEN = 25


def is_wanted(item: LibraryItem, asked: Mapping[str, str]) -> bool:
    """Return whether an automation matches the filters of the library's page."""
    text = name_key(f"{item.name} {item.description} {item.trigger_label} {_(item.trigger_label)}")
    return (
        name_key(asked["search"]) in text
        and asked["industry"] in {"", item.industry}
        and (not asked["channel"] or asked["channel"] in item.channels)
        and (not asked["requires"] or asked["requires"] in item.requires)
        and (not asked["ai"] or item.ai == (asked["ai"] == "yes"))
    )


class PackLibrary(ListPage, PackDetailView):
    """Lists the library, with the automations already in the pack and the reasons why others cannot be added."""

    writers_only = True
    table = Table(
        caption=gettext_lazy("Add from the library"),
        columns=(),
        filters=(
            Filter(
                name="search", label=gettext_lazy("Search"), placeholder=gettext_lazy("Search names and descriptions")
            ),
            Filter(name="industry", label=gettext_lazy("Industry"), is_choice=True, choices=Industry.choices),
            Filter(name="channel", label=gettext_lazy("Channel"), is_choice=True),
            Filter(name="requires", label=gettext_lazy("Needs"), is_choice=True),
            Filter(
                name="ai",
                label=gettext_lazy("A.I."),
                is_choice=True,
                choices=(("yes", gettext_lazy("With")), ("no", gettext_lazy("Without"))),
            ),
        ),
    )

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        state = self.read_table(
            {
                "channel": [(name, capfirst(label)) for name, label in CHANNEL_NAMES.items()],
                "requires": [(name, capfirst(_(label))) for name, label in REQUIREMENTS.items()],
            }
        )
        state.labels_without = {"ai": _("With or without")}
        found = [item for item in library().items.values() if is_wanted(item, state.values)]
        found.sort(key=lambda item: item.industry != self.pack.industry)
        pages = read_pages(request, len(found))
        held = list(self.pack.entries.only("template_id", "catch_all", "name_key"))
        state.show([self._row(item, held) for item in _rows_of_page(pages, found)], pages)
        return self.list_page(
            "packs/console/library.html",
            state,
            pack=self.pack,
            crumbs=self.crumbs(),
            can_add=not all(row["obstacle"] for row in state.rows),
            entry_count=len(held),
            max_entries=MOST_ENTRIES,
        )

    def _row(self, item: LibraryItem, held: list[PackEntry]) -> dict[str, object]:
        return {
            "item": item,
            "channels": channel_names(item.channels),
            "requires": [_(REQUIREMENTS[name]) for name in item.requires],
            "steps": summarize(item.flow),
            "barred": reasons_entry_cannot_run(item.flow, item.channels),
            "obstacle": reason_not_to_add(item, held),
            "held": any(entry.template_id == item.id for entry in held),
        }


def _rows_of_page(pages: NumberedPages, found: list[LibraryItem]) -> list[LibraryItem]:
    return found[pages.offset : pages.offset + pages.size]


def reason_not_to_add(item: LibraryItem, held: list[PackEntry]) -> str:
    """Return why an automation cannot be added to the pack, or "" if it can."""
    if any(entry.template_id == item.id for entry in held):
        return _("In this pack")
    if len(held) >= MOST_ENTRIES:
        return _("The pack is full")
    if item.catch_all and any(entry.catch_all for entry in held):
        return _("The pack has one that answers everything")
    if any(entry.name_key == name_key(item.name) for entry in held):
        return _("The pack has one with this name")
    return ""


class EntryAdd(PackDetailView):
    """Adds one or several library automations and returns to the same place in the library.

    A repeated request adds nothing and says so.
    """

    keeps_form_data = True
    form_page = LIBRARY

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        chosen = list(dict.fromkeys(request.POST.getlist("template_id")))[:MOST_CHOSEN]
        added, refused = self._add(chosen)
        if len(added) == 1:
            messages.success(request, _("%(name)s was added.") % {"name": added[0]})
        elif added:
            message = _("%(number)s automations were added: %(names)s.")
            messages.success(request, message % {"number": len(added), "names": ", ".join(added)})
        for refusal in refused if chosen else [_("Choose at least one automation.")]:
            messages.error(request, refusal)
        return redirect(self._library(request, chosen))

    def _add(self, chosen: list[str]) -> tuple[list[str], list[str]]:
        """Add the chosen automations. Return the names of the added ones and the reasons against the others."""
        added, refused = [], []
        for template_id in chosen:
            item = library().items.get(template_id)
            try:
                added.append(add_library_entry(pack=self.pack, template_id=template_id, by=self.by).name)
            except InvalidInput as error:
                said = in_page_language(error.message)
                refused.append(f"{item.name}: {said}" if item and len(chosen) > 1 else said)
        return added, refused

    def _library(self, request: HttpRequest, chosen: list[str]) -> str:
        query = request.POST.get("query", "")
        address = reverse(LIBRARY, args=[self.pack.uuid])
        place = f"#item-{chosen[0]}" if chosen and chosen[0] in library().items else ""
        return f"{address}?{query}{place}" if query else f"{address}{place}"
