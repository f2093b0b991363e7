"""Console pages that list, order, create, edit, publish, archive and remove packs."""

from collections.abc import Mapping
from typing import ClassVar
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop, ngettext

from agency.console.base import FormPage, breadcrumb
from agency.pages.forms import ConfirmationForm
from agency.pages.pagination import NumberedPages
from agency.pages.registry import StrOrPromise
from agency.pages.tables import Column, Filter, ListPage, Table
from packs.console import copies, entries
from packs.console.base import (
    LIBRARY,
    LIST,
    PACK,
    PACKS,
    PackConsoleView,
    PackDetailView,
    PackForm,
    pack_values,
    posted_order,
    redirect_to_moved,
)
from packs.library import library
from packs.library.loading import Industry
from packs.models import MOST_ENTRIES, Pack
from packs.services import (
    change_pack,
    create_pack,
    has_replace_setting,
    order_packs,
    packs_of,
    remove_pack,
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
            replaces_platform=has_replace_setting(self.agency.pk),
        )


class PacksOrder(PackConsoleView):
    def post(self, request: HttpRequest) -> HttpResponse:
        try:
            order_packs(agency=self.agency, order=posted_order(request), by=self.by)
        except NotInOrder:
            messages.warning(request, _("A pack was removed in the meantime, so the order did not change."))
        return redirect_to_moved(request, LIST)


class PacksVisibility(PackConsoleView):
    """Shows or hides the service's own packs."""

    def post(self, request: HttpRequest) -> HttpResponse:
        wanted = request.POST.get("replace_platform")
        if wanted not in {"on", "off"}:
            return redirect(LIST)
        set_replace_platform(agency=self.agency, replace_platform=wanted == "on", by=self.by)
        if wanted == "on":
            return self.done(_("Customers see only your own packs as soon as you publish one."), LIST)
        return self.done(_("Customers see the service's own packs after yours."), LIST)


class PackNew(PackConsoleView, FormPage[PackForm]):
    creates = True

    def make_form(self, data: Mapping[str, object] | None = None) -> PackForm:
        return PackForm(data)

    def save(self, form: PackForm) -> HttpResponse:
        pack = create_pack(agency=self.agency, by=self.by, **form.changes())
        return self.done(_("%(name)s was created. Now add automations.") % {"name": pack.name}, LIBRARY, pack.uuid)

    def context(self) -> dict[str, object]:
        return {"crumbs": [breadcrumb(PACKS, LIST)], "heading": _("New pack"), "submit": _("Create pack")}


class PackEdit(PackDetailView, FormPage[PackForm]):
    def make_form(self, data: Mapping[str, object] | None = None) -> PackForm:
        return PackForm(data, initial=pack_values(self.pack))

    def save(self, form: PackForm) -> HttpResponse:
        self.pack = change_pack(pack=self.pack, by=self.by, **form.changes())
        return self.saved(_("%(name)s was saved."))

    def context(self) -> dict[str, object]:
        heading = _("Edit %(name)s") % {"name": self.name}
        return {"crumbs": self.crumbs(), "heading": heading, "submit": _("Save")}


UNDONE = gettext_noop("You cannot undo this. To hide the pack and keep it, archive it instead.")


class PackRemove(PackDetailView, FormPage[ConfirmationForm]):
    """Asks for confirmation, then removes a pack for good."""

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        remove_pack(pack=self.pack, by=self.by)
        return self.done(_("%(name)s was removed.") % {"name": self.name}, LIST)

    def context(self) -> dict[str, object]:
        return {
            "crumbs": self.crumbs(),
            "heading": _("Remove %(name)s?") % {"name": self.name},
            "text": _(
                "The pack disappears from every gallery at once. "
                "Automations that customers have added from it stay as they are."
            ),
            "warning": " ".join(filter(None, [_(UNDONE), self.platform_packs_warning()])),
            "submit": _("Remove pack"),
            "danger": True,
        }


class StatusPage(PackDetailView, FormPage[ConfirmationForm]):
    """Asks to confirm a new status. If the pack has the status already, redirects to it."""

    status: ClassVar[Pack.Status]
    heading: ClassVar[StrOrPromise]
    submit: ClassVar[StrOrPromise]
    success_message: ClassVar[StrOrPromise]
    danger: ClassVar[bool] = False

    def get(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        self.find(**ids)
        if self.pack.status == self.status:
            return redirect(PACK, self.pack.uuid)
        return self.show(self.make_form())

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        change_pack(pack=self.pack, status=self.status, by=self.by)
        return self.saved(str(self.success_message))

    def effect(self) -> str:
        """Describe the change's effect in a sentence. Each subclass has its own."""
        raise NotImplementedError

    def context(self) -> dict[str, object]:
        return {
            "crumbs": self.crumbs(),
            "heading": str(self.heading) % {"name": self.name},
            "text": self.effect(),
            "warning": self.platform_packs_warning() if self.status != Pack.Status.PUBLISHED else "",
            "submit": self.submit,
            "danger": self.danger,
        }


class PackPublish(StatusPage):
    status = Pack.Status.PUBLISHED
    heading = gettext_lazy("Publish %(name)s?")
    submit = gettext_lazy("Publish")
    success_message = gettext_lazy("%(name)s is published. Customers see it now.")

    def effect(self) -> str:
        number = self.pack.entries.count()
        if not number:
            return _("It has no automations yet, so there is nothing to publish.")
        sentence = ngettext(
            "All your customers see it in their gallery at once, with %(number)s automation.",
            "All your customers see it in their gallery at once, with %(number)s automations.",
            number,
        ) % {"number": number}
        kind = self.pack.get_business_type_display()
        if not kind:
            return f"{sentence} {_('Customers install it themselves. Nobody gets it automatically.')}"
        same_type = Pack.objects.of(self.agency).published().filter(business_type=self.pack.business_type)
        above = same_type.filter(position__lt=self.pack.position).in_gallery_order().first()
        if above:
            given = _("New customers of the type “%(kind)s” get %(name)s instead, because it is higher in the gallery.")
            return f"{sentence} {given % {'kind': kind, 'name': above.name}}"
        given = _("New customers of the type “%(kind)s” get it with their first messaging channel.")
        return f"{sentence} {given % {'kind': kind}}"


class PackArchive(StatusPage):
    status = Pack.Status.ARCHIVED
    heading = gettext_lazy("Archive %(name)s?")
    submit = gettext_lazy("Archive")
    success_message = gettext_lazy("%(name)s is archived. Customers no longer see it.")

    def effect(self) -> str:
        return _(
            "The pack disappears from your customers' galleries and stays here. You can publish it again at any time. "
            "Automations that customers have added from it stay as they are."
        )


class PackUnpublish(StatusPage):
    status = Pack.Status.DRAFT
    heading = gettext_lazy("Unpublish %(name)s?")
    submit = gettext_lazy("Unpublish")
    success_message = gettext_lazy("%(name)s is a draft again. Customers no longer see it.")

    def effect(self) -> str:
        return _(
            "The pack becomes a draft, which customers do not see. "
            "Automations that they have added from it stay as they are."
        )


urlpatterns = [
    path("sub-accounts/<id:uuid>/packs/install", copies.PackInstallFor.as_view(), name="pack-install-for"),
    path("packs", Packs.as_view(), name="packs"),
    path("packs/new", PackNew.as_view(), name="pack-new"),
    path("packs/order", PacksOrder.as_view(), name="packs-order"),
    path("packs/visibility", PacksVisibility.as_view(), name="packs-visibility"),
    path("packs/<id:uuid>", entries.PackPage.as_view(), name="pack"),
    path("packs/<id:uuid>/edit", PackEdit.as_view(), name="pack-edit"),
    path("packs/<id:uuid>/publish", PackPublish.as_view(), name="pack-publish"),
    path("packs/<id:uuid>/archive", PackArchive.as_view(), name="pack-archive"),
    path("packs/<id:uuid>/draft", PackUnpublish.as_view(), name="pack-draft"),
    path("packs/<id:uuid>/remove", PackRemove.as_view(), name="pack-remove"),
    path("packs/<id:uuid>/order", entries.EntriesOrder.as_view(), name="pack-order"),
    path("packs/<id:uuid>/library", entries.PackLibrary.as_view(), name="pack-library"),
    path("packs/<id:uuid>/add", entries.EntryAdd.as_view(), name="pack-add"),
    path("packs/<id:uuid>/copy", copies.CopySource.as_view(), name="pack-copy"),
    path("packs/<id:uuid>/copy/<id:workspace>", copies.CopyChoice.as_view(), name="pack-copy-from"),
    path("packs/<id:uuid>/copy/<id:workspace>/<id:automation>", copies.CopyPreview.as_view(), name="pack-copy-preview"),
    path("packs/<id:uuid>/entries/<id:entry>", entries.EntryEdit.as_view(), name="pack-entry"),
    path("packs/<id:uuid>/entries/<id:entry>/remove", entries.EntryRemove.as_view(), name="pack-entry-remove"),
]
