"""Console pages that copy an automation out of a sub-account: choose both, preview the copy, confirm."""

from typing import Any
from uuid import UUID

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from agency.console.base import FormPage, breadcrumb
from agency.pages.forms import ConfirmationForm
from agency.pages.pagination import paginate, with_id
from packs.console.views.base import ONE, PackDetailView
from packs.models.entries import MOST_ENTRIES
from packs.services import copy_automation, find_source, preview_copy
from workspaces.automations.models import Automation
from workspaces.subaccounts.models import CHANNEL_NAMES, Workspace
from workspaces.subaccounts.services import WorkspaceNotFound

COPY = "console:pack-copy"
FROM = "console:pack-copy-from"


class CopyPage(PackDetailView):
    """A page of the copying steps."""

    writers_only = True

    def crumbs(self) -> list[Any]:
        return [*super().crumbs(), breadcrumb(_("Copy from a sub-account"), COPY, self.pack.uuid)]

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
            is_full=self.pack.entries.count() >= MOST_ENTRIES,
        )


class CopyChoice(CopyPage):
    """Lists the published automations of one sub-account."""

    def get(self, request: HttpRequest, uuid: UUID | None, workspace: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        source = self.workspace_of(workspace)
        automations: Any = Automation.objects.filter(workspace=source).published().select_related("published")
        rows, pages = paginate(request, automations.defer("draft", "published__flow").order_by("name", "id"))
        named = [(row, CHANNEL_NAMES[row.platform]) for row in rows]
        return self.page(
            "packs/console/copy_choose_automation.html",
            pack=self.pack,
            crumbs=self.crumbs(),
            source=source,
            rows=named,
            pages=pages,
        )


class CopyPreview(CopyPage, FormPage[ConfirmationForm]):
    """Previews the copy. Confirming saves it."""

    template_name = "packs/console/copy_preview.html"
    creates = True
    automation: Automation

    def find(self, **ids: Any) -> None:
        super().find(**ids)
        self.automation = find_source(agency=self.agency, workspace=ids["workspace"], automation=ids["automation"])

    def make_form(self, data: Any = None) -> ConfirmationForm:
        return ConfirmationForm(data)

    def save(self, form: ConfirmationForm) -> HttpResponse:
        entry = copy_automation(pack=self.pack, automation=self.automation, by=self.by)
        return self.done(_("%(name)s was copied into the pack.") % {"name": entry.name}, ONE, self.pack.uuid)

    def context(self) -> dict[str, Any]:
        preview = preview_copy(automation=self.automation)
        source = self.automation.workspace
        return {
            "crumbs": [*self.crumbs(), breadcrumb(source.name, FROM, self.pack.uuid, source.uuid)],
            "heading": _("Copy %(name)s?") % {"name": self.automation.name},
            "pack": self.pack,
            "preview": preview,
            "channel": CHANNEL_NAMES[preview.platform],
        }
