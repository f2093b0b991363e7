"""Console pages that list, order, create, edit and remove packs, and show or hide the service's own."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from agency.console.base import FormPage, breadcrumb
from agency.pages.forms import ConfirmationForm
from agency.pages.pagination import NumberedPages
from agency.pages.tables import Column, Filter, ListPage, Table
from packs.console.forms import PackForm, pack_values
from packs.console.views.base import (
    LIBRARY,
    LIST,
    PACKS,
    PackConsoleView,
    PackDetailView,
    posted_order,
    redirect_to_moved,
)
from packs.library import library
from packs.library.industries import Industry
from packs.models import Pack
from packs.models.entries import MOST_ENTRIES
from packs.services import (
    change_pack,
    create_pack,
    order_packs,
    packs_of,
    remove_pack,
    replaces_platform,
    set_replace_platform,
)
from packs.services.errors import NotInOrder
from packs.services.packs import MOST_PACKS
from workspaces.subaccounts.models.workspaces import BusinessType


class Packs(ListPage, PackConsoleView):
    """All packs in gallery order, on one page, because only the whole list can be ordered."""

    table = Table(
        caption=gettext_lazy("Packs in the order of the gallery"),
        columns=(
            Column(name="pack", label=gettext_lazy("Pack")),
            Column(name="status", label=gettext_lazy("Status")),
            Column(name="automations", label=gettext_lazy("Automations"), is_number=True),
            Column(name="installed", label=gettext_lazy("Installed in"), is_number=True),
            Column(name="order", label=gettext_lazy("Order"), is_unseen=True),
        ),
        filters=(
            Filter(name="status", label=gettext_lazy("Status"), is_choice=True, choices=Pack.Status.choices),
            Filter(name="industry", label=gettext_lazy("Industry"), is_choice=True, choices=Industry.choices),
            Filter(
                name="business_type", label=gettext_lazy("Business type"), is_choice=True, choices=BusinessType.choices
            ),
        ),
    )

    def get(self, request: HttpRequest) -> HttpResponse:
        state, packs = self.read_table(), packs_of(self.agency)
        asked = {one.filter.name: one.value for one in state.filters if one.value in dict(one.choices)}
        rows = [row for row in packs if all(getattr(row, name) == value for name, value in asked.items())]
        return self.list_page(
            "packs/console/packs.html",
            state.show(rows, NumberedPages(asked=1, total=len(rows), size=MOST_PACKS)),
            order=",".join(str(row.uuid) for row in packs),
            may_order=self.may_write and len(packs) > 1 and not state.is_filtered,
            max_entries=MOST_ENTRIES,
            published_count=sum(row.status == Pack.Status.PUBLISHED for row in packs),
            platform_pack_count=len(library().packs),
            replaces_platform=replaces_platform(self.agency.pk),
        )


class PacksOrder(PackConsoleView):
    def post(self, request: HttpRequest) -> HttpResponse:
        try:
            order_packs(agency=self.agency, order=posted_order(request), by=self.by)
        except NotInOrder:
            messages.warning(request, _("A pack was removed meanwhile. The order is as it was."))
        return redirect_to_moved(request, LIST)


class PacksVisibility(PackConsoleView):
    """Shows or hides the service's own packs."""

    def post(self, request: HttpRequest) -> HttpResponse:
        wanted = request.POST.get("replace_platform")
        if wanted not in {"on", "off"}:
            return redirect(LIST)
        set_replace_platform(agency=self.agency, replace_platform=wanted == "on", by=self.by)
        if wanted == "on":
            return self.done(_("Only your own packs are offered from now on, as soon as one is published."), LIST)
        return self.done(_("The service's own packs are offered after yours."), LIST)


class PackNew(PackConsoleView, FormPage[PackForm]):
    creates = True

    def make_form(self, data: Any = None) -> PackForm:
        return PackForm(data)

    def save(self, form: PackForm) -> HttpResponse:
        pack = create_pack(agency=self.agency, by=self.by, **form.changes())
        return self.done(_("%(name)s was created. Now add automations.") % {"name": pack.name}, LIBRARY, pack.uuid)

    def context(self) -> dict[str, Any]:
        return {"crumbs": [breadcrumb(PACKS, LIST)], "heading": _("New pack"), "submit": _("Create pack")}


class PackEdit(PackDetailView, FormPage[PackForm]):
    def make_form(self, data: Any = None) -> PackForm:
        return PackForm(data, initial=pack_values(self.pack))

    def save(self, form: PackForm) -> HttpResponse:
        self.pack = change_pack(pack=self.pack, by=self.by, **form.changes())
        return self.saved(_("%(name)s was saved."))

    def context(self) -> dict[str, Any]:
        heading = _("Edit %(name)s") % {"name": self.name}
        return {"crumbs": self.crumbs(), "heading": heading, "submit": _("Save")}


UNDONE = gettext_noop("This cannot be undone. Archive it instead to hide it and keep it.")


class PackRemove(PackDetailView, FormPage[ConfirmationForm]):
    """Asks for confirmation, then removes a pack for good."""

    def make_form(self, data: Any = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        remove_pack(pack=self.pack, by=self.by)
        return self.done(_("%(name)s was removed.") % {"name": self.name}, LIST)

    def context(self) -> dict[str, Any]:
        return {
            "crumbs": self.crumbs(),
            "heading": _("Remove %(name)s?") % {"name": self.name},
            "text": _(
                "It leaves every gallery at once. Automations that customers have added from it stay as they are."
            ),
            "warning": " ".join(filter(None, [_(UNDONE), self.platform_packs_warning()])),
            "submit": _("Remove pack"),
            "danger": True,
        }
