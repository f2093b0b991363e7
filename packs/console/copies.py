"""Console pages that copy an automation out of a sub-account, and that install a pack into one."""

from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from django import forms
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agency.console.base import FormPage
from agency.pages.forms import ConfirmationForm
from agency.pages.pagination import paginate, with_id
from config.api.requests import parse_uuid
from packs.console.base import PACK, PackDetailView, translated_slots
from packs.models import MOST_ENTRIES, PackEntry
from packs.services import copy_automation, find_entry, find_source_automation, install_pack, preview_copy
from packs.services.copies import copied_entry, copy_anew
from packs.services.errors import PackNotFound
from packs.services.offered_packs import OfferedPack, offered_packs
from workspaces.automations.flows.differences import Difference, differences
from workspaces.automations.flows.flow import Flow
from workspaces.automations.models import Automation
from workspaces.automations.services import reasons_barred
from workspaces.subaccounts.console.sub_accounts import PAGE, SubAccountDetailView
from workspaces.subaccounts.models import CHANNEL_NAMES, Workspace
from workspaces.subaccounts.services import WorkspaceNotFound

COPY = "console:pack-copy"
FROM = "console:pack-copy-from"


class CopyPage(PackDetailView):
    """A page of the copying steps. With `entry` in the URL's query the copy replaces that copy of the pack."""

    writers_only = True

    @cached_property
    def replaced(self) -> PackEntry | None:
        asked = self.request.GET.get("entry")
        return find_entry(pack=self.pack, uuid=parse_uuid(asked)) if asked else None

    @property
    def query(self) -> str:
        return f"?entry={self.replaced.uuid}" if self.replaced else ""

    def crumbs(self) -> list[Any]:
        return [*super().crumbs(), (_("Copy from a sub-account"), reverse(COPY, args=[self.pack.uuid]) + self.query)]

    def workspace_of(self, uuid: UUID | None) -> Workspace:
        found: Workspace | None = with_id(Workspace.objects.of(self.agency), uuid)
        if found is None:
            raise WorkspaceNotFound
        return found


class CopySource(CopyPage):
    """Lists the sub-accounts that have published automations."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        search = request.GET.get("search", "").strip()
        rows = Workspace.objects.of(self.agency).filter(automations__published__isnull=False)
        if search:
            rows = rows.none() if "\0" in search else rows.matching(search)
        counted = rows.annotate(number=Count("automations", filter=Q(automations__published__isnull=False)))
        found, pages = paginate(request, counted.order_by("name_key", "id"))
        return self.page(
            "packs/console/copy_choose_sub_account.html",
            pack=self.pack,
            crumbs=super().crumbs()[:2],
            rows=found,
            pages=pages,
            search=search,
            query=self.query,
            replaced=self.replaced,
            is_full=not self.replaced and self.pack.entries.count() >= MOST_ENTRIES,
        )


class CopyChoice(CopyPage):
    """Lists the published automations of one sub-account."""

    def get(self, request: HttpRequest, uuid: UUID | None, workspace: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        source = self.workspace_of(workspace)
        automations = Automation.objects.filter(workspace=source).published().select_related("published")
        if self.replaced:
            automations = automations.filter(platform__in=self.replaced.channels)
        rows, pages = paginate(request, automations.defer("draft", "published__flow").order_by("name", "id"))
        named = [(row, CHANNEL_NAMES[row.platform]) for row in rows]
        return self.page(
            "packs/console/copy_choose_automation.html",
            pack=self.pack,
            crumbs=self.crumbs(),
            source=source,
            rows=named,
            pages=pages,
            query=self.query,
        )


class CopyPreview(CopyPage, FormPage[ConfirmationForm]):
    """Previews the copy. Confirming saves it."""

    template_name = "packs/console/copy_preview.html"
    creates = True
    automation: Automation

    def find(self, **ids: UUID | None) -> None:
        super().find(**ids)
        self.automation = find_source_automation(
            agency=self.agency, workspace=ids["workspace"], automation=ids["automation"]
        )

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        if self.replaced:
            entry = copy_anew(entry=self.replaced, automation=self.automation, by=self.by)
            message = _("%(name)s was copied again. Customers who have it are offered the new version.")
            return self.done(message % {"name": entry}, PACK, self.pack.uuid)
        entry = copy_automation(pack=self.pack, automation=self.automation, by=self.by)
        return self.done(_("%(name)s was copied into the pack.") % {"name": entry.name}, PACK, self.pack.uuid)

    def context(self) -> dict[str, object]:
        preview = preview_copy(automation=self.automation)
        source, replaced = self.automation.workspace, self.replaced
        source_page = reverse(FROM, args=[self.pack.uuid, source.uuid]) + self.query
        heading = _("Replace %(replaced)s with %(name)s?") if replaced else _("Copy %(name)s?")
        return {
            "crumbs": [*self.crumbs(), (source.name, source_page)],
            "heading": heading % {"name": self.automation.name, "replaced": replaced},
            "pack": self.pack,
            "query": self.query,
            "replaced": replaced,
            "differences": self._differences(replaced) if replaced and not preview.refusals else [],
            "preview": preview,
            "slots": translated_slots([slot.plain() for slot in preview.slots]),
            "barred": reasons_barred(self.automation),
            "channel": CHANNEL_NAMES[preview.platform],
        }

    def _differences(self, replaced: PackEntry) -> list[Difference]:
        copied = copied_entry(self.automation, replaced)
        return differences(replaced.flow, cast("Flow", copied.flow or {}), lambda _kind, value: value)


class PackInstallForm(forms.Form):
    """A choice of one pack of the sub-account's gallery."""

    pack = forms.ChoiceField(label=gettext_lazy("Pack"), widget=forms.RadioSelect)

    def __init__(self, *args: Any, packs: list[OfferedPack], **options: Any) -> None:
        super().__init__(*args, **options)
        choice = self.fields["pack"]
        assert isinstance(choice, forms.ChoiceField)  # noqa: S101  # tells the type checker what is declared above
        choice.choices = [(str(pack.uuid), pack.name) for pack in packs]


class PackInstallFor(SubAccountDetailView, FormPage[PackInstallForm]):
    """Adds the pack's automations that the sub-account lacks, switched off, exactly as its owner's install does."""

    def make_form(self, data: Mapping[str, object] | None = None) -> PackInstallForm:
        return PackInstallForm(data, packs=offered_packs(self.workspace))

    def save(self, form: PackInstallForm) -> HttpResponse:
        uuid = parse_uuid(form.cleaned_data["pack"])
        if uuid is None:
            raise PackNotFound
        done = install_pack(workspace=self.workspace, pack=uuid, now=timezone.now(), by=self.by)
        count = len(done.added)
        if not count:
            return self.back(_("Nothing was added. %(name)s already has everything, or has no channel that fits."))
        message = ngettext(
            "%(count)s automation was added to %(name)s, switched off.",
            "%(count)s automations were added to %(name)s, switched off.",
            count,
        )
        return self.done(message % {"count": count, "name": self.workspace.name}, PAGE, self.workspace.uuid)

    def context(self) -> dict[str, object]:
        return {
            "crumbs": self.crumbs(),
            "heading": _("Install a pack for %(name)s") % {"name": self.workspace.name},
            "text": _("Its automations are added switched off. Existing automations stay as they are."),
            "submit": _("Install"),
        }
