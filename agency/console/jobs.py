"""Pages of background jobs: bulk changes of a list's rows, and exports of lists as files."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.base import ConsoleView, FormPage, breadcrumb
from agency.models import BulkOperation, BulkOperationItem, Export
from agency.models.jobs import Job
from agency.pages.branding import in_page_language
from agency.pages.forms import ConfirmationForm
from agency.pages.pagination import NumberedPages, Row, keyset_page, read_pages, with_id
from agency.pages.registry import StrOrPromise
from agency.pages.tables import Column, Filter, ListPage, Table, TableState
from agency.services.bulk import (
    BulkAction,
    BulkOperationNotFound,
    NothingSelected,
    Selection,
    TargetLabel,
    TooManySelected,
    bulk_actions,
    cancel_bulk_operation,
    count_selected,
    start_bulk_operation,
)
from agency.services.exports import (
    KEPT,
    MOST_ROWS,
    ExportNotFound,
    cancel_export,
    export_source,
    export_sources,
    kept_exports,
    open_export,
    start_export,
)
from config.api.requests import parse_uuid

STATE: Final = Filter(name="state", label=gettext_lazy("State"), is_choice=True, choices=Job.State.choices)
EXPORTS: Final = Table(
    caption=gettext_lazy("Exports, the newest first"),
    columns=(
        Column(name="list", label=gettext_lazy("List")),
        Column(name="state", label=gettext_lazy("State")),
        Column(name="rows", label=gettext_lazy("Rows"), is_number=True),
        Column(name="by", label=gettext_lazy("By")),
        Column(name="begun", label=gettext_lazy("Started")),
    ),
    filters=(
        Filter(name="kind", label=gettext_lazy("List"), is_choice=True),
        STATE,
        Filter(name="format", label=gettext_lazy("Format"), is_choice=True, choices=Export.Format.choices),
    ),
)
BULK_OPERATIONS: Final = Table(
    caption=gettext_lazy("Bulk changes, the newest first"),
    columns=(
        Column(name="what", label=gettext_lazy("Kind")),
        Column(name="state", label=gettext_lazy("State")),
        Column(name="done", label=gettext_lazy("Done"), is_number=True),
        Column(name="by", label=gettext_lazy("By")),
        Column(name="begun", label=gettext_lazy("Started")),
    ),
    filters=(Filter(name="kind", label=gettext_lazy("Kind"), is_choice=True), STATE),
)


def narrowed(rows: "QuerySet[Row]", state: TableState) -> "QuerySet[Row]":
    """Return the rows that match all filters; a value that a filter does not offer is ignored."""
    asked = {one.filter.name: one.value for one in state.filters if one.value in dict(one.choices)}
    return rows.filter(**asked)


BULK_LIST: Final = "console:bulk-operations"
BULK_DETAIL: Final = "console:bulk-operation"
BULK_TITLE: Final = gettext_lazy("Bulk changes")
SAMPLE: Final = 10
MOST_PICKED: Final = 100
SECONDS_BETWEEN_LOOKS: Final = 2
A_DAY: Final = timedelta(days=1)
ItemState = BulkOperationItem.State
BADGES: Final = {"completed": "good", "stopped": "bad", "succeeded": "good", "failed": "bad"}


class BulkOperationNew(FormPage[Any]):
    """Shows how many objects were chosen and some of them, and asks for what the action needs.

    The address holds the selection. Objects made after the page was shown do not belong to it.
    """

    nav = BULK_LIST
    creates = True
    template_name = "agency/bulk/new.html"
    action: BulkAction | None
    problem: str = ""
    number: int = 0
    selection: Selection

    def find(self, **ids: UUID | None) -> None:
        sent = self.request.GET
        self.action = bulk_actions.get(sent.get("action", ""))
        items = sent.getlist("item")[:MOST_PICKED]
        picked = None if "all" in sent else [uuid for item in items if (uuid := parse_uuid(item))]
        self.selection = Selection(
            agency=self.agency, query=sent.get("query", ""), until=self._shown_at(), picked=picked
        )
        if self.action is None:
            self.problem = _("Choose the rows to change in their list.")
            return
        try:
            self.number = count_selected(self.action, self.selection)
        except (NothingSelected, TooManySelected) as refusal:
            self.problem = in_page_language(refusal.message)

    def _shown_at(self) -> datetime:
        """Return when the page was shown that the person confirms; now if the form holds no time of the last day."""
        now = timezone.now()
        try:
            sent = parse_datetime(self.request.POST.get("until", ""))
        except ValueError:
            sent = None
        return sent if sent and sent.tzinfo and now - A_DAY < sent < now else now

    def make_form(self, data: Mapping[str, object] | None = None) -> forms.BaseForm:
        return self.action.make_form(self.agency, data) if self.action else ConfirmationForm(data)

    def post(self, request: HttpRequest, **ids: UUID | None) -> HttpResponse:
        self.find(**ids)
        if self.problem:
            return self.show(self.make_form(), status=422)
        return super().post(request, **ids)

    def save(self, form: forms.BaseForm) -> HttpResponse:
        assert self.action is not None  # noqa: S101  # `problem` refuses a form without one
        made = start_bulk_operation(
            action=self.action,
            selection=self.selection,
            parameters=self.action.parameters_of(form),
            now=timezone.now(),
            by=self.by,
        )
        return self.done(
            _("The change has started. You can leave this page, and the work goes on."), BULK_DETAIL, made.uuid
        )

    def context(self) -> dict[str, object]:
        action = self.action
        if action is None:
            return {"problem": self.problem, "crumbs": [breadcrumb(BULK_TITLE, BULK_LIST)], "heading": BULK_TITLE}
        targets = action.targets
        back = f"{reverse(targets.url_name)}?{self.selection.query}"
        return {
            "action": action,
            "problem": self.problem,
            "number": self.number,
            "until": self.selection.until.isoformat(),
            "sample": self._sample(action),
            "heading": action.label,
            "crumbs": [(targets.label, back)],
        }

    def _sample(self, action: BulkAction) -> list[TargetLabel]:
        if self.problem:
            return []
        ids = action.targets.walk(self.selection, None, SAMPLE).ids[:SAMPLE]
        shown = action.targets.shown(self.agency, ids)
        return [shown[pk] for pk in ids if pk in shown]


class BulkOperations(ListPage, ConsoleView):
    """All bulk operations, newest first."""

    nav = BULK_LIST
    table = BULK_OPERATIONS

    def get(self, request: HttpRequest) -> HttpResponse:
        state = self.read_table({"kind": [*action_labels().items()]})
        rows = BulkOperation.objects.filter(agency=self.agency).select_related("created_by")
        state.show_keyset(keyset_page(request, narrowed(rows, state)))
        return self.list_page("agency/bulk/list.html", state, labels=action_labels(), badges=BADGES)


class BulkOperationMixin(ConsoleView):
    """A page about one bulk operation of the agency."""

    nav = BULK_LIST
    operation: BulkOperation

    def find(self, uuid: UUID | None) -> None:
        found = with_id(BulkOperation.objects.filter(agency=self.agency).select_related("created_by"), uuid)
        if found is None:
            raise BulkOperationNotFound
        self.operation = found


class BulkOperationPage(BulkOperationMixin):
    """Shows the progress and each item's result; the page refreshes itself until the operation has ended."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid)
        state = request.GET.get("state", "")
        state = state if state in ItemState.values else ""
        pages = read_pages(request, self._number(state))
        return self.page(
            "agency/bulk/operation.html",
            operation=self.operation,
            label=action_labels().get(self.operation.kind, self.operation.kind),
            badges=BADGES,
            rows=self._rows(state, pages),
            pages=pages,
            state=state,
            states=ItemState.choices,
            seconds=SECONDS_BETWEEN_LOOKS if self.operation.is_active else 0,
            crumbs=[breadcrumb(BULK_TITLE, BULK_LIST)],
        )

    def _number(self, state: str) -> int:
        """Return the number of items in a state, from the operation's own counts."""
        operation = self.operation
        if not state:
            return operation.total
        number: int = operation.left if state == ItemState.PENDING else getattr(operation, state)
        return number

    def _rows(self, state: str, pages: NumberedPages) -> list[tuple[BulkOperationItem, TargetLabel | None]]:
        items = self.operation.items.filter(state=state) if state else self.operation.items.all()
        found = list(items.order_by("id")[pages.offset : pages.offset + pages.size])
        action = bulk_actions.get(self.operation.kind)
        ids = [item.target_id for item in found]
        shown: Mapping[int, TargetLabel] = action.targets.shown(self.agency, ids) if action else {}
        return [(item, shown.get(item.target_id)) for item in found]


class BulkOperationCancel(BulkOperationMixin):
    form_page = BULK_DETAIL

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid)
        is_cancelled = cancel_bulk_operation(operation=self.operation, now=timezone.now(), by=self.by)
        message = _("It was cancelled. Changes that were made stay.") if is_cancelled else _("It has already ended.")
        return self.done(message, BULK_DETAIL, self.operation.uuid)


def action_labels() -> dict[str, StrOrPromise]:
    return {action.name: action.label for action in bulk_actions}


EXPORT_LIST: Final = "console:exports"
EXPORT_DETAIL: Final = "console:export"
EXPORT_TITLE: Final = gettext_lazy("Exports")
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

    nav = EXPORT_LIST
    creates = True

    def make_form(self, data: Mapping[str, object] | None = None) -> ExportForm:
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
        return self.done(
            _("The export has started. You can leave this page, and the work goes on."), EXPORT_DETAIL, made.uuid
        )

    def context(self) -> dict[str, object]:
        is_filtered = bool(self.request.GET.get("query"))
        return {
            "heading": _("New export"),
            "submit": _("Export"),
            "text": _("The list's filters apply to the file, too.") if is_filtered else "",
            "crumbs": [breadcrumb(EXPORT_TITLE, EXPORT_LIST)],
        }


class Exports(ListPage, ConsoleView):
    """All kept exports, newest first, for people who may download them."""

    nav = EXPORT_LIST
    writers_only = True
    table = EXPORTS

    def get(self, request: HttpRequest) -> HttpResponse:
        state = self.read_table({"kind": [*labels().items()]})
        rows = kept_exports(self.agency, timezone.now()).select_related("created_by")
        state.show_keyset(keyset_page(request, narrowed(rows, state)))
        return self.list_page("agency/exports/list.html", state, labels=labels(), badges=BADGES, kept=KEPT)


class ExportMixin(ConsoleView):
    """A page about one export of the agency."""

    nav = EXPORT_LIST
    writers_only = True
    export: Export

    def find(self, uuid: UUID | None) -> None:
        found = with_id(kept_exports(self.agency, timezone.now()).select_related("created_by"), uuid)
        if found is None:
            raise ExportNotFound
        self.export = found


class ExportPage(ExportMixin):
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
            crumbs=[breadcrumb(EXPORT_TITLE, EXPORT_LIST)],
        )


class ExportCancel(ExportMixin):
    form_page = EXPORT_DETAIL
    writers_only = False  # a GET only redirects to the page with the button

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid)
        is_cancelled = cancel_export(export=self.export, now=timezone.now(), by=self.by)
        message = _("The export was cancelled.") if is_cancelled else _("It has already ended.")
        return self.done(message, EXPORT_DETAIL, self.export.uuid)


class ExportFile(ExportMixin):
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


def labels() -> dict[str, StrOrPromise]:
    return {source.name: source.label for source in export_sources}
