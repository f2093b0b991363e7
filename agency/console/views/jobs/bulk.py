"""Bulk changes: a page shows and counts the selection, then a job with its own page makes the changes."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.console.views.base import ConsoleView, FormPage, crumb
from agency.console.views.jobs.tables import BULK_OPERATIONS, narrowed
from agency.models import BulkOperation, BulkOperationItem
from agency.pages.forms.forms import Confirmation
from agency.pages.lists import Pages, keyset_page, read_pages, with_id
from agency.pages.locale import in_page_language
from agency.pages.tables import ListPage
from agency.services.bulk.actions import BulkAction, Shown, bulk_actions
from agency.services.bulk.operations import (
    BulkOperationNotFound,
    NothingChosen,
    TooMuchChosen,
    cancel_bulk_operation,
    chosen,
    start_bulk_operation,
)
from agency.services.jobs.selections import Selection
from config.api.requests import parse_uuid

LIST: Final = "console:bulk-operations"
ONE: Final = "console:bulk-operation"
TITLE: Final = gettext_lazy("Bulk changes")
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

    nav = LIST
    creates = True
    template_name = "agency/bulk/new.html"
    action: BulkAction | None
    problem: str = ""
    number: int = 0
    selection: Selection

    def find(self, **ids: Any) -> None:
        sent = self.request.GET
        self.action = bulk_actions.get(sent.get("action", ""))
        items = sent.getlist("item")[:MOST_PICKED]
        picked = None if "all" in sent else [uuid for item in items if (uuid := parse_uuid(item))]
        self.selection = Selection(
            agency=self.agency, query=sent.get("query", ""), until=self._shown_at(), picked=picked
        )
        if self.action is None:
            self.problem = _("Choose what to change, and how, on its list.")
            return
        try:
            self.number = chosen(self.action, self.selection)
        except (NothingChosen, TooMuchChosen) as refusal:
            self.problem = in_page_language(refusal.message)

    def _shown_at(self) -> datetime:
        """Return when the page was shown that the person confirms; now if the form holds no time of the last day."""
        now = timezone.now()
        try:
            sent = parse_datetime(self.request.POST.get("until", ""))
        except ValueError:
            sent = None
        return sent if sent and sent.tzinfo and now - A_DAY < sent < now else now

    def make_form(self, data: Any = None) -> Any:
        return self.action.make_form(self.agency, data) if self.action else Confirmation(data)

    def post(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        self.find(**ids)
        if self.problem:
            return self.show(self.make_form(), status=422)
        return super().post(request, **ids)

    def save(self, form: Any) -> HttpResponse:
        assert self.action is not None  # noqa: S101  # `problem` refuses a form without one
        made = start_bulk_operation(
            action=self.action,
            selection=self.selection,
            parameters=self.action.parameters_of(form),
            now=timezone.now(),
            by=self.by,
        )
        return self.done(_("It has begun. You may leave this page: nothing stops."), ONE, made.uuid)

    def context(self) -> dict[str, Any]:
        action = self.action
        if action is None:
            return {"problem": self.problem, "crumbs": [crumb(TITLE, LIST)], "heading": TITLE}
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

    def _sample(self, action: BulkAction) -> list[Shown]:
        if self.problem:
            return []
        ids = action.targets.walk(self.selection, None, SAMPLE).ids[:SAMPLE]
        shown = action.targets.shown(self.agency, ids)
        return [shown[pk] for pk in ids if pk in shown]


class BulkOperations(ListPage, ConsoleView):
    """All bulk operations, newest first."""

    nav = LIST
    table = BULK_OPERATIONS

    def get(self, request: HttpRequest) -> HttpResponse:
        state = self.read_table({"kind": [*action_labels().items()]})
        rows = BulkOperation.objects.filter(agency=self.agency).select_related("created_by")
        state.show_keyset(keyset_page(request, narrowed(rows, state)))
        return self.list_page("agency/bulk/list.html", state, labels=action_labels(), badges=BADGES)


class OneBulkOperation(ConsoleView):
    """A page about one bulk operation of the agency."""

    nav = LIST
    operation: BulkOperation

    def find(self, uuid: UUID | None) -> None:
        found = with_id(BulkOperation.objects.filter(agency=self.agency).select_related("created_by"), uuid)
        if found is None:
            raise BulkOperationNotFound
        self.operation = found


class BulkOperationPage(OneBulkOperation):
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
            crumbs=[crumb(TITLE, LIST)],
        )

    def _number(self, state: str) -> int:
        """Return the number of items in a state, from the operation's own counts."""
        operation = self.operation
        if not state:
            return operation.total
        number: int = operation.left if state == ItemState.PENDING else getattr(operation, state)
        return number

    def _rows(self, state: str, pages: Pages) -> list[tuple[BulkOperationItem, Shown | None]]:
        items = self.operation.items.filter(state=state) if state else self.operation.items.all()
        found = list(items.order_by("id")[pages.offset : pages.offset + pages.size])
        action = bulk_actions.get(self.operation.kind)
        ids = [item.target_id for item in found]
        shown: Mapping[int, Shown] = action.targets.shown(self.agency, ids) if action else {}
        return [(item, shown.get(item.target_id)) for item in found]


class BulkOperationCancel(OneBulkOperation):
    form_page = ONE

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid)
        is_cancelled = cancel_bulk_operation(operation=self.operation, now=timezone.now(), by=self.by)
        message = _("It was cancelled. What was done stays.") if is_cancelled else _("It has ended already.")
        return self.done(message, ONE, self.operation.uuid)


def action_labels() -> dict[str, Any]:
    return {action.name: action.label for action in bulk_actions}
