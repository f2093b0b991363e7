"""Lists as files: requested on a page, written by a job, downloaded."""

from typing import Any, Final
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.views.base import ConsoleView, FormPage, crumb
from agency.console.views.jobs.bulk import BADGES, SECONDS_BETWEEN_LOOKS
from agency.console.views.jobs.tables import EXPORTS, narrowed
from agency.models import Export
from agency.pages.lists import keyset_page, with_id
from agency.pages.tables import ListPage
from agency.services.exports.files import (
    KEPT,
    MOST_ROWS,
    ExportNotFound,
    available,
    cancel_export,
    open_export,
    start_export,
)
from agency.services.exports.sources import export_source, export_sources

LIST: Final = "console:exports"
ONE: Final = "console:export"
TITLE: Final = gettext_lazy("Exports")
CONTENT_TYPES: Final = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson; charset=utf-8"}


class ExportForm(forms.Form):
    """The list to export, the filters from its address, and the file's format."""

    kind = forms.ChoiceField(label=gettext_lazy("List"))
    format = forms.ChoiceField(label=gettext_lazy("Format"), choices=Export.Format.choices, widget=forms.RadioSelect)
    query = forms.CharField(required=False, max_length=2_000, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        kind = self.fields["kind"]
        assert isinstance(kind, forms.ChoiceField)  # noqa: S101  # tells the type checker what is declared above
        kind.choices = [(source.name, source.label) for source in export_sources]


class ExportNew(FormPage[ExportForm]):
    """Asks for an export; the link from the list's own page names the list and its filters."""

    nav = LIST
    creates = True

    def make_form(self, data: Any = None) -> ExportForm:
        sent = self.request.GET
        initial = {"kind": sent.get("kind", ""), "query": sent.get("query", ""), "format": Export.Format.CSV}
        return ExportForm(data, initial=initial)

    def save(self, form: ExportForm) -> HttpResponse:
        fields = form.cleaned_data
        is_same_list = fields["kind"] == self.request.GET.get("kind", fields["kind"])
        made = start_export(
            agency=self.agency,
            source=export_source(fields["kind"]),
            query=fields["query"] if is_same_list else "",
            file_format=fields["format"],
            now=timezone.now(),
            by=self.by,
        )
        return self.done(_("The export has begun. You may leave this page: nothing stops."), ONE, made.uuid)

    def context(self) -> dict[str, Any]:
        is_filtered = bool(self.request.GET.get("query"))
        return {
            "heading": _("New export"),
            "submit": _("Export"),
            "text": _("The filters of the list hold for the file, too.") if is_filtered else "",
            "crumbs": [crumb(TITLE, LIST)],
        }


class Exports(ListPage, ConsoleView):
    """All kept exports, newest first, for people who may download them."""

    nav = LIST
    writers_only = True
    table = EXPORTS

    def get(self, request: HttpRequest) -> HttpResponse:
        state = self.read_table({"kind": [*labels().items()]})
        rows = available(self.agency, timezone.now()).select_related("created_by")
        state.show_keyset(keyset_page(request, narrowed(rows, state)))
        return self.list_page("agency/exports/list.html", state, labels=labels(), badges=BADGES, kept=KEPT)


class OneExport(ConsoleView):
    """A page about one export of the agency."""

    nav = LIST
    writers_only = True
    export: Export

    def find(self, uuid: UUID | None) -> None:
        found = with_id(available(self.agency, timezone.now()).select_related("created_by"), uuid)
        if found is None:
            raise ExportNotFound
        self.export = found


class ExportPage(OneExport):
    """Shows the progress; the page refreshes itself until the export has ended."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid)
        return self.page(
            "agency/exports/export.html",
            export=self.export,
            label=labels().get(self.export.kind, self.export.kind),
            badges=BADGES,
            until=self.export.created_at + KEPT,
            most=MOST_ROWS,
            seconds=SECONDS_BETWEEN_LOOKS if self.export.is_active else 0,
            crumbs=[crumb(TITLE, LIST)],
        )


class ExportCancel(OneExport):
    form_page = ONE
    writers_only = False  # a GET only redirects to the page with the button

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid)
        is_cancelled = cancel_export(export=self.export, now=timezone.now(), by=self.by)
        message = _("The export was cancelled.") if is_cancelled else _("It has ended already.")
        return self.done(message, ONE, self.export.uuid)


class ExportFile(OneExport):
    """Streams the file; the activity log records who downloaded it."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponseBase:
        self.find(uuid)
        export = self.export
        parts = open_export(export=export, by=self.by)
        answer = StreamingHttpResponse(parts, content_type=CONTENT_TYPES[export.format])
        name = f"{export.kind}-{export.created_at:%Y-%m-%d}.{export.format}"
        answer["Content-Disposition"] = f'attachment; filename="{name}"'
        answer["Content-Length"] = str(export.bytes)
        return answer


def labels() -> dict[str, Any]:
    return {source.name: source.label for source in export_sources}
