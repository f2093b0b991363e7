"""Forms of the dashboard about automations."""

from collections.abc import Mapping
from typing import Any, cast

from django import forms
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agency.pages.branding import in_page_language
from agency.pages.forms import LineField, MultilineField
from workspaces.automations.dashboard.pickers import Pickers
from workspaces.automations.flows.fields import LONGEST_OWN, Field, Many, Own, Text
from workspaces.automations.flows.flow import TRIGGER_NODE, Flow
from workspaces.automations.flows.presentation.summary import shown_step
from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.automations.flows.requirements import REQUIREMENTS
from workspaces.automations.flows.slots import NoSuchSlot, SlotKey, filled, value_in
from workspaces.automations.models import Automation
from workspaces.automations.services import ReadinessChanges, SlotRefused, asked_requirements, page_of_requirement

LONGEST_LINE = 160
LONGEST_NAME = 40
INPUTS: dict[str, type[forms.Widget]] = {"url": forms.URLInput, "email": forms.EmailInput}


def declared_field(flow: Flow, slot_key: SlotKey) -> Field | None:
    """Find the declared field of a slot; None if the registry has no such field."""
    node, path = slot_key
    found: Field | None = None
    fields = _fields_of(flow, node)
    for part in path.split("."):
        if not part.isdigit():
            found = next((field for field in fields if field.name == part), None)
        elif isinstance(found, Many):
            fields, found = found.of, found.plain
        else:
            return None
    return found


def _fields_of(flow: Flow, node: str) -> tuple[Field, ...]:
    if node == TRIGGER_NODE:
        trigger = TRIGGERS.get(flow["trigger"]["type"])
        return trigger.fields if trigger else ()
    step = next((STEPS.get(one["type"]) for one in flow["steps"] if one["id"] == node), None)
    return step.fields if step else ()


def input_for(declared: Field | None, *, label: str, hint: str, value: str) -> forms.CharField:
    """Make the input of a slot that people type. It may stay empty, because people may fill in slots one by one."""
    options: dict[str, Any] = {"label": label, "help_text": hint, "initial": value, "required": False}
    if isinstance(declared, Text):
        options["max_length"] = declared.most
        if declared.most > LONGEST_LINE:
            return MultilineField(widget=forms.Textarea(attrs={"rows": 3}), **options)
        return LineField(**options)
    if isinstance(declared, Own):
        widget = INPUTS.get(declared.of, forms.TextInput)
        return LineField(max_length=LONGEST_OWN, widget=widget(attrs={"spellcheck": "false"}), **options)
    return LineField(max_length=LONGEST_NAME, **options)


class PrerequisitesForm(forms.Form):
    """The prerequisites that the workspace has.

    `known` lists the prerequisites that a feature checks by itself: label, whether it is met, page.
    """

    has = forms.MultipleChoiceField(
        label=_("We have"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "Tick what is set up in your business. An automation that is on stays on when you take a tick away."
        ),
    )

    def __init__(self, *args: Any, met: set[str], **options: Any) -> None:
        names = asked_requirements()
        options["initial"] = {"has": [name for name in names if name in met]}
        super().__init__(*args, **options)
        has = self.fields["has"]
        assert isinstance(has, forms.MultipleChoiceField)  # noqa: S101  # tells the type checker what is declared above
        has.choices = [(name, capfirst(gettext(label))) for name, label in names.items()]
        self.known = [
            (gettext(label), name in met, page_of_requirement(name))
            for name, label in REQUIREMENTS.items()
            if name not in names
        ]

    def changes(self) -> ReadinessChanges:
        answers = {name: name in self.cleaned_data["has"] for name in asked_requirements()}
        return cast(ReadinessChanges, answers)


class SlotForm(forms.Form):
    """One input for each slot whose step is in the flow, and a checkbox for each requirement that is not `met`."""

    def __init__(
        self, data: Any = None, *, automation: Automation, met: set[str], typed: Mapping[str, str] | None = None
    ) -> None:
        """Make the form, bound to `data`. `typed` holds the values of a form that is only shown again."""
        super().__init__(data)
        self.slot_keys: dict[str, SlotKey] = {}
        back = reverse("app:automation", args=[automation.uuid])
        self.automation = automation
        self.pickers = Pickers(automation.workspace, data or typed, back=back)
        for number, slot in enumerate(automation.slots, 1):
            slot_key = (slot["node"], slot["path"])
            try:
                value = value_in(automation.draft, slot_key)
            except NoSuchSlot:
                continue
            name = f"slot_{number}"
            declared = declared_field(automation.draft, slot_key)
            self.slot_keys[name] = slot_key
            told = {
                "label": gettext(slot["label"]),
                "hint": shown_step(slot["step"]),
                "value": "" if value is None else str(value),
            }
            self.fields[name] = self.pickers.field(declared, name=name, **told) or input_for(declared, **told)
            if typed and name in typed:
                self.fields[name].initial = typed[name]
        asked = asked_requirements()
        choices = [(name, asked[name]) for name in automation.requires if name in asked and name not in met]
        if choices:
            self.fields["has"] = forms.MultipleChoiceField(
                label=_("We have"),
                required=False,
                widget=forms.CheckboxSelectMultiple,
                choices=[(name, capfirst(gettext(label))) for name, label in choices],
            )

    def flow_as_typed(self) -> Flow:
        """Give the draft with the form's present values, valid or not. It is for the preview, never for saving."""
        values = self.data if self.is_bound else {name: self.fields[name].initial for name in self.slot_keys}
        return filled(
            self.automation.draft, {slot_key: values.get(name, "") for name, slot_key in self.slot_keys.items()}
        )

    def readiness(self) -> ReadinessChanges:
        """Give the requirements that the customer ticked."""
        return cast(ReadinessChanges, dict.fromkeys(self.cleaned_data.get("has", []), True))

    def changes(self) -> dict[SlotKey, Any]:
        """Give the changed values. A value that was emptied is None."""
        given = self.cleaned_data
        changed = [name for name in self.slot_keys if given[name] != self.fields[name].initial]
        return {self.slot_keys[name]: given[name] or None for name in changed}

    def add_refusal(self, error: SlotRefused) -> None:
        """Add the errors to the inputs of the slots that they name."""
        for name, slot_key in self.slot_keys.items():
            for sentence in error.errors.get(".".join(slot_key), []):
                self.add_error(name, sentence)
        if not self.errors:
            self.add_error(None, in_page_language(error.message))
