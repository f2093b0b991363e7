"""The pages on which people change an automation's flow: the list of steps, and a form for each change."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final, Generic, TypeVar
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from agency.pages.branding import in_page_language
from agency.pages.invalid_forms import mark_form_redisplayed
from agency.pages.registry import activity_actions
from config.errors import DomainError, NotFound
from workspaces.automations.dashboard.automations import AutomationDetail
from workspaces.automations.dashboard.flow_rows import FlowReader
from workspaces.automations.dashboard.forms import SlotInputs
from workspaces.automations.dashboard.step_forms import ConfigForm
from workspaces.automations.flows import editing
from workspaces.automations.flows.editing import EditRefused
from workspaces.automations.flows.flow import TRIGGER_NODE, Step
from workspaces.automations.flows.outline import START, Place, config_of, ports_in_order
from workspaces.automations.flows.privacy import KNOWN_VARIABLES
from workspaces.automations.flows.types import StepType, TriggerType
from workspaces.automations.models import Automation
from workspaces.automations.services.drafts import has_unpublished_changes
from workspaces.automations.services.editing import draft_history, draft_mark, redo, undo
from workspaces.automations.services.errors import EditNotPossible, StepNotFound, ValuesRefused
from workspaces.subaccounts.dashboard.base import DashboardForm
from workspaces.subaccounts.models import CHANNEL_NAMES

EDIT: Final = "app:automation-edit"
LONGEST_MARK: Final = 64


class EditorPage(AutomationDetail):
    """A page of the editor. Forms carry `seen`, the mark of the draft that they were made from."""

    form_page = EDIT

    @cached_property
    def inputs(self) -> SlotInputs:
        return SlotInputs(self.workspace, self.request.POST, back=self.request.path)

    @cached_property
    def reader(self) -> FlowReader:
        return FlowReader(self.automation, self.inputs.name_of)

    @property
    def seen(self) -> str:
        """The mark that the form sent, so that a refused form is refused again; on a page, that of its draft."""
        if self.request.method == "POST":
            return self.request.POST.get("seen", "")[:LONGEST_MARK]
        return draft_mark(self.automation)

    def edit_url(self, anchor: str = "") -> str:
        return reverse(EDIT, args=[self.automation.uuid]) + (f"#{anchor}" if anchor else "")

    def edited(self, message: str, automation: Automation, node: str = "") -> HttpResponse:
        """Say what was done, and return to the step."""
        known = node == TRIGGER_NODE or any(step["id"] == node for step in automation.draft["steps"])
        return self.done(message, self.edit_url(f"step-{node}" if known else ""))


class Editor(EditorPage):
    """Shows the flow as a list of steps, with what can be done at each."""

    def get(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        automation, history = self.automation, draft_history(self.automation)
        return self.page(
            "automations/editor/steps.html",
            automation=automation,
            channel=CHANNEL_NAMES[automation.platform],
            trigger=self.reader.trigger,
            rows=self.reader.rows,
            cut_off=self.reader.cut_off,
            general_problems=self.reader.problems.get("", []),
            problem_count=self.reader.problem_count,
            unavailable=self.reader.unavailable,
            is_published=automation.published is not None,
            is_changed=has_unpublished_changes(automation),
            undo=history.undo is not None,
            undo_label=_action_label(history.undo),
            redo=history.redo is not None,
            redo_label=_action_label(history.redo),
            seen=draft_mark(automation),
        )


def _action_label(name: str | None) -> str:
    action = activity_actions.get(name) if name else None
    return str(action.label) if action else ""


class EditorUndo(EditorPage):
    """Takes the last change back, or makes it again."""

    is_undo: ClassVar[bool] = True

    def post(self, request: HttpRequest, uuid: UUID | None) -> HttpResponse:
        self.find(uuid=uuid)
        change = undo if self.is_undo else redo
        try:
            change(automation=self.automation, seen=self.seen, now=timezone.now(), by=self.by)
        except NotFound:
            raise
        except DomainError as error:
            messages.error(request, in_page_language(error.message))
            return redirect(self.edit_url())
        return self.done(_("Undone.") if self.is_undo else _("Redone."), self.edit_url())


class EditorRedo(EditorUndo):
    is_undo = False


EditFormOf = TypeVar("EditFormOf", bound=forms.Form)


class EditForm(EditorPage, DashboardForm[EditFormOf], Generic[EditFormOf]):
    """A form that changes the draft. If steps would be cut off, the form asks whether they may be removed."""

    template_name = "automations/editor/form.html"
    cut_off: list[str]

    def post(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        if not self.only_looks(request):
            return super().post(request, **ids)
        self.find(**ids)
        mark_form_redisplayed(request)
        return self.show(self.form_again())

    def form_again(self) -> EditFormOf:
        """Make the form with the values that were typed, without saving anything."""
        raise NotImplementedError

    @property
    def prune(self) -> bool:
        return self.request.POST.get("prune") == "on"

    def save(self, form: EditFormOf) -> HttpResponse:
        try:
            return self.change(form)
        except EditNotPossible as error:
            form.add_error(None, in_page_language(error.message))
            self.cut_off = self.reader.card_titles(error.unreached)
        except ValuesRefused as error:
            if not isinstance(form, ConfigForm):
                raise
            form.add_refusals(error.errors)
        return self.show(form, status=422)

    def change(self, form: EditFormOf) -> HttpResponse:
        """Call the service. Each page overrides this."""
        raise NotImplementedError

    def step_or_404(self, node: str) -> Step:
        try:
            return editing.find_step(self.automation.draft, node)
        except EditRefused as error:
            raise StepNotFound from error

    def place_or_404(self, node: str, port: str) -> Place:
        if (node, port) != START and port not in ports_in_order(self.step_or_404(node)):
            raise StepNotFound
        return node, port

    def context(self) -> dict[str, object]:
        return {
            "automation": self.automation,
            "seen": self.seen,
            "edit_url": self.edit_url(),
            "cut_off": getattr(self, "cut_off", []),
        }


class ConfigPage(EditForm[ConfigForm]):
    """The form of a step's or the start's values."""

    template_name = "automations/editor/config.html"
    type: StepType | TriggerType
    values: Mapping[str, object]

    def make_form(self, data: Mapping[str, object] | None = None) -> ConfigForm:
        return ConfigForm(data, declared=self.type.fields, config=self.values, inputs=self.inputs)

    def form_again(self) -> ConfigForm:
        sent = self.request.POST
        return ConfigForm(
            declared=self.type.fields, config=self.values, inputs=self.inputs, typed=sent, more=sent.get("more", "")
        )

    def only_looks(self, request: HttpRequest) -> bool:
        return "more" in request.POST or "search" in request.POST

    def context(self) -> dict[str, object]:
        return {**super().context(), "type": self.type, "variables": list(self._variables())}

    def _variables(self) -> Iterator[str]:
        for root, names in KNOWN_VARIABLES.items():
            if root in {"contact", "workspace", "message"}:
                yield from (f"{root}.{name}" for name in sorted(names))
        saved = (config_of(step).get("save_as") for step in self.automation.draft["steps"])
        yield from (f"answers.{name}" for name in dict.fromkeys(saved) if isinstance(name, str) and name)


urlpatterns = [
    path("automations/<id:uuid>/edit", Editor.as_view(), name="automation-edit"),
    path("automations/<id:uuid>/edit/undo", EditorUndo.as_view(), name="automation-undo"),
    path("automations/<id:uuid>/edit/redo", EditorRedo.as_view(), name="automation-redo"),
]
