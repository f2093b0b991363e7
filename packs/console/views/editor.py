"""The console's editor of a pack: its automations in order, and pages to change or remove one."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from agency.console.base import FormPage
from agency.pages.forms import ConfirmationForm
from packs.console.forms import EntryForm
from packs.console.views.base import ONE, PackDetailView, channel_names, posted_order, redirect_to_moved
from packs.models import Pack, PackEntry
from packs.models.entries import MOST_ENTRIES
from packs.services import change_entry, find_entry, order_entries, remove_entry, view_entry, view_pack
from packs.services.errors import NotInOrder
from workspaces.automations.flows.requirements import REQUIREMENTS


class PackPage(PackDetailView):
    """Shows the editor."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        view = view_pack(self.pack)
        entries = [
            (entry, channel_names(entry.channels), [_(REQUIREMENTS[name]) for name in entry.requires])
            for entry in view.entries
        ]
        return self.page(
            "packs/console/pack.html",
            pack=self.pack,
            entries=entries,
            order=",".join(str(entry.uuid) for entry in view.entries),
            installed_in=view.installed_in,
            max_entries=MOST_ENTRIES,
            is_full=len(entries) >= MOST_ENTRIES,
            missing=sum(entry.missing for entry in view.entries),
        )


class EntriesOrder(PackDetailView):
    form_page = ONE

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        try:
            order_entries(pack=self.pack, order=posted_order(request), by=self.by)
        except NotInOrder:
            messages.warning(request, _("An automation was removed meanwhile. The order is as it was."))
        return redirect_to_moved(request, ONE, self.pack.uuid)


class EntryDetailView(PackDetailView):
    """A page about one automation of a pack."""

    entry: PackEntry

    def find(self, **ids: Any) -> None:
        super().find(**ids)
        self.entry = find_entry(pack=self.pack, uuid=ids["entry"])
        self.view = view_entry(self.entry)


class EntryEdit(EntryDetailView, FormPage[EntryForm]):
    def make_form(self, data: Any = None) -> EntryForm:
        return EntryForm(data, entry=self.view)

    def save(self, form: EntryForm) -> HttpResponse:
        changed = change_entry(entry=self.entry, by=self.by, **form.changes())
        message = _("%(name)s was saved. Customers who have it already keep theirs as it is.")
        return self.done(message % {"name": view_entry(changed).name}, ONE, self.pack.uuid)

    def context(self) -> dict[str, Any]:
        heading = _("Edit %(name)s") % {"name": self.view.name}
        return {"crumbs": self.crumbs(), "heading": heading, "submit": _("Save")}


class EntryRemove(EntryDetailView, FormPage[ConfirmationForm]):
    def make_form(self, data: Any = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        removal = remove_entry(entry=self.entry, by=self.by)
        message = _("%(name)s was removed.") % {"name": self.view.name}
        if not removal.unpublished:
            return self.done(message, ONE, self.pack.uuid)
        message += " " + _(
            "It was the pack's last automation, so the pack was unpublished: customers no longer see it."
        )
        messages.warning(self.request, message)
        return redirect(ONE, self.pack.uuid)

    def context(self) -> dict[str, Any]:
        is_last = self.pack.status == Pack.Status.PUBLISHED and self.pack.entries.count() == 1
        return {
            "crumbs": self.crumbs(),
            "heading": _("Remove %(name)s?") % {"name": self.view.name},
            "text": _("Later installs come without it. Customers who have it already keep theirs as it is."),
            "warning": _("It is the pack's last automation: the pack is unpublished with it.") if is_last else "",
            "submit": _("Remove automation"),
            "danger": True,
        }
