"""The forms of the editor: add, change, move and remove a step, connect a place, and choose the start."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agency.pages.branding import in_page_language
from workspaces.automations.dashboard.editor import ConfigPage, EditForm
from workspaces.automations.dashboard.step_forms import ConfigForm
from workspaces.automations.flows import editing
from workspaces.automations.flows.editing import EditRefused
from workspaces.automations.flows.flow import TRIGGER_NODE
from workspaces.automations.flows.message_steps import MESSAGE_STEPS, QUESTION_STEPS
from workspaces.automations.flows.outline import START, Place, config_of, ports_in_order, target_of
from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.automations.flows.steps import (
    AI_STEPS,
    BUSINESS_STEPS,
    CONTACT_STEPS,
    INTEGRATION_STEPS,
    LOGIC_STEPS,
    TEAM_STEPS,
)
from workspaces.automations.flows.types import StepType, TriggerType
from workspaces.automations.services.editing import (
    add_step,
    change_step,
    change_trigger,
    connect,
    move_step,
    remove_step,
)
from workspaces.automations.services.errors import StepNotFound

NO_TYPE: Final = StepType(name="", label="")
STEP_GROUPS: Final = (
    (gettext_lazy("Send something"), MESSAGE_STEPS),
    (gettext_lazy("Ask something"), QUESTION_STEPS),
    (gettext_lazy("Decide and wait"), LOGIC_STEPS),
    (gettext_lazy("Change the contact"), CONTACT_STEPS),
    (gettext_lazy("Tell the team"), TEAM_STEPS),
    (gettext_lazy("Sell and book"), BUSINESS_STEPS),
    (gettext_lazy("Use A.I."), AI_STEPS),
    (gettext_lazy("Other programs"), INTEGRATION_STEPS),
)


def _is_offered(type: StepType | TriggerType, platform: str) -> bool:
    """Say whether people may choose this type: the channel has it, and the product can run it."""
    return platform in type.channels and not type.unavailable


class StepAdd(ConfigPage):
    """First lets people choose a type of step, then shows its form."""

    place: Place

    def find(self, **ids: Any) -> None:
        super().find(**ids)
        self.place = self.place_or_404(ids["node"], ids["port"])
        wanted = STEPS.get(self.request.POST.get("type") or self.request.GET.get("type", ""), NO_TYPE)
        self.type, self.values = wanted if self.automation.platform in wanted.channels else NO_TYPE, {}

    def show(self, form: ConfigForm, *, status: int = 200) -> HttpResponse:
        return super().show(form, status=status) if self.type is not NO_TYPE else self._choices(status)

    def _choices(self, status: int) -> HttpResponse:
        platform = self.automation.platform
        groups = [(label, [step for step in steps if _is_offered(step, platform)]) for label, steps in STEP_GROUPS]
        shown = [(label, steps) for label, steps in groups if steps]
        context = {**EditForm.context(self), "groups": shown, "heading": self._heading()}
        return self.page("automations/editor/types.html", status=status, **context)

    def _heading(self) -> str:
        return _("Add a step %(place)s") % {"place": self.reader.place_name(self.place)}

    def change(self, form: ConfigForm) -> HttpResponse:
        automation = add_step(
            automation=self.automation,
            seen=self.seen,
            place=self.place,
            type=self.type.name,
            config=form.config,
            prune=self.prune,
            now=timezone.now(),
            by=self.by,
        )
        return self.edited(_("The step was added."), automation, target_of(automation.draft, self.place))

    def context(self) -> dict[str, object]:
        label = _(self.type.label)
        return {**super().context(), "heading": label, "text": self._heading(), "submit": _("Add the step")}


class StepChange(ConfigPage):
    """Changes the values of a step."""

    step: str

    def find(self, **ids: Any) -> None:
        super().find(**ids)
        self.step = ids["step"]
        found = self.step_or_404(self.step)
        declared = STEPS.get(found["type"])
        if declared is None:
            raise StepNotFound
        self.type, self.values = declared, config_of(found)

    def change(self, form: ConfigForm) -> HttpResponse:
        automation = change_step(
            automation=self.automation,
            seen=self.seen,
            step=self.step,
            config=form.config,
            origins=form.origins,
            prune=self.prune,
            now=timezone.now(),
            by=self.by,
        )
        return self.edited(_("The step was saved."), automation, self.step)

    def context(self) -> dict[str, object]:
        card = self.reader.card(self.step)
        return {**super().context(), "heading": card.title, "submit": _("Save"), "card": card}


class TriggerChange(ConfigPage):
    """Chooses what starts the automation, and changes its values."""

    def find(self, **ids: UUID | None) -> None:
        super().find(**ids)
        given = self.automation.draft[TRIGGER_NODE]
        wanted = self.request.POST.get("type") or self.request.GET.get("type") or given["type"]
        found = TRIGGERS.get(wanted) or TRIGGERS["any_message"]
        self.type, self.values = found, config_of(given) if found.name == given["type"] else {}

    def change(self, form: ConfigForm) -> HttpResponse:
        automation = change_trigger(
            automation=self.automation,
            seen=self.seen,
            type=self.type.name,
            config=form.config,
            now=timezone.now(),
            by=self.by,
        )
        return self.edited(_("The start was saved."), automation, TRIGGER_NODE)

    def context(self) -> dict[str, object]:
        platform = self.automation.platform
        others = [one for one in TRIGGERS.values() if _is_offered(one, platform) and one is not self.type]
        heading = _("When: %(label)s") % {"label": _(self.type.label)}
        return {**super().context(), "heading": heading, "submit": _("Save"), "others": others}


class PlaceForm(forms.Form):
    """Chooses one place or step from a list. It is required if the list has no empty choice."""

    def __init__(
        self, data: Any = None, *, label: str, choices: list[tuple[str, str]], initial: str = "", radio: bool = False
    ) -> None:
        super().__init__(data)
        required = all(value for value, _label in choices)
        widget = forms.RadioSelect if radio else forms.Select
        self.fields["to"] = forms.ChoiceField(
            label=label, choices=choices, initial=initial, required=required, widget=widget
        )


class StepMove(EditForm[PlaceForm]):
    """Puts a step at another place."""

    step: str

    def find(self, **ids: Any) -> None:
        super().find(**ids)
        self.step = ids["step"]
        self.step_or_404(self.step)

    def make_form(self, data: Mapping[str, object] | None = None) -> PlaceForm:
        places = [row for row in self.reader.rows if self.step not in (row.node, row.step.id if row.step else "")]
        choices = [(f"{row.node}/{row.port}", row.name) for row in places]
        return PlaceForm(data, label=_("Where to"), choices=choices)

    def change(self, form: PlaceForm) -> HttpResponse:
        node, _slash, port = form.cleaned_data["to"].partition("/")
        automation = move_step(
            automation=self.automation,
            seen=self.seen,
            step=self.step,
            place=(node, port),
            now=timezone.now(),
            by=self.by,
        )
        return self.edited(_("The step was moved."), automation, self.step)

    def context(self) -> dict[str, object]:
        text = _("The next step moves up. The other branches stay with the step that you move.")
        heading = _("Move %(step)s") % {"step": self.reader.card(self.step).title}
        return {**super().context(), "heading": heading, "text": text, "submit": _("Move")}


class StepRemove(EditForm[PlaceForm]):
    """Removes a step after a question: which of its branches stays?"""

    step: str

    def find(self, **ids: Any) -> None:
        super().find(**ids)
        self.step = ids["step"]
        self.step_or_404(self.step)

    def make_form(self, data: Mapping[str, object] | None = None) -> PlaceForm:
        found = editing.find_step(self.automation.draft, self.step)
        ways = [port for port in ports_in_order(found) if found.get("next", {}).get(port)]
        choices = [(port, self._consequence(port)) for port in [*ways, ""]]
        return PlaceForm(data, label=_("What follows it"), choices=choices, initial=choices[0][0], radio=True)

    def _consequence(self, keep: str) -> str:
        flow = self.automation.draft
        condition = self.reader.condition((self.step, keep)) if keep else ""
        kept = _("Keep the steps that follow") if keep else _("Keep nothing")
        try:
            lost = editing.steps_lost(flow, editing.remove_step(flow, node=self.step, keep=keep))
        except EditRefused as refusal:
            return f"{kept}: {in_page_language(refusal.sentence)}"
        others = [self.reader.card(step["id"]).title for step in lost if step["id"] != self.step]
        said = f"{kept} ({condition})" if condition else kept
        return _("%(kept)s; also removes: %(steps)s") % {"kept": said, "steps": ", ".join(others)} if others else said

    def change(self, form: PlaceForm) -> HttpResponse:
        automation = remove_step(
            automation=self.automation,
            seen=self.seen,
            step=self.step,
            keep=form.cleaned_data["to"],
            now=timezone.now(),
            by=self.by,
        )
        return self.edited(_("The step was removed."), automation)

    def context(self) -> dict[str, object]:
        heading = _("Remove %(step)s?") % {"step": self.reader.card(self.step).title}
        return {**super().context(), "heading": heading, "submit": _("Remove the step"), "danger": True}


class PlaceConnect(EditForm[PlaceForm]):
    """Lets a place lead to a step that is there already, or to the end."""

    place: Place

    def find(self, **ids: Any) -> None:
        super().find(**ids)
        self.place = self.place_or_404(ids["node"], ids["port"])

    def make_form(self, data: Mapping[str, object] | None = None) -> PlaceForm:
        steps = [(card.id, card.title) for card in map(self.reader.card, self.reader.steps)]
        choices = steps if self.place == START else [("", _("The automation ends here")), *steps]
        initial = target_of(self.automation.draft, self.place)
        return PlaceForm(data, label=_("Goes on with"), choices=choices, initial=initial)

    def change(self, form: PlaceForm) -> HttpResponse:
        automation = connect(
            automation=self.automation,
            seen=self.seen,
            place=self.place,
            target=form.cleaned_data["to"],
            prune=self.prune,
            now=timezone.now(),
            by=self.by,
        )
        return self.edited(_("Saved."), automation, self.place[0])

    def context(self) -> dict[str, object]:
        heading = _("What follows %(place)s") % {"place": self.reader.place_name(self.place)}
        return {**super().context(), "heading": heading, "submit": _("Save")}


PLACE: Final = "automations/<id:uuid>/edit/at/<slug:node>/<slug:port>"
STEP: Final = "automations/<id:uuid>/edit/steps/<slug:step>"
urlpatterns = [
    path("automations/<id:uuid>/edit/trigger", TriggerChange.as_view(), name="automation-trigger"),
    path(f"{PLACE}/add", StepAdd.as_view(), name="automation-step-add"),
    path(f"{PLACE}/connect", PlaceConnect.as_view(), name="automation-connect"),
    path(STEP, StepChange.as_view(), name="automation-step"),
    path(f"{STEP}/move", StepMove.as_view(), name="automation-step-move"),
    path(f"{STEP}/remove", StepRemove.as_view(), name="automation-step-remove"),
]
