"""What a customer fills in."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agency.fields import Line, Lines
from workspaces.automations.flows.fields import LONGEST_OWN, Field, Many, Own, Text
from workspaces.automations.flows.flow import TRIGGER_NODE, Flow
from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.automations.flows.requirements import REQUIREMENTS
from workspaces.automations.flows.slots import NoSuchSlot, Place, value_in
from workspaces.automations.models import Automation
from workspaces.automations.services import SlotRefused, asked_requirements

LONGEST_LINE = 160
LONGEST_NAME = 40
INPUTS: dict[str, type[forms.Widget]] = {"url": forms.URLInput, "email": forms.EmailInput}


def declared_field(flow: Flow, place: Place) -> Field | None:
    """Find the declared field that a slot stands for; None where the registry knows none."""
    node, path = place
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
    """Make the input that suits a slot; empty is allowed, as people fill slots in one after another."""
    options: dict[str, Any] = {"label": label, "help_text": hint, "initial": value, "required": False}
    if isinstance(declared, Text):
        options["max_length"] = declared.most
        if declared.most > LONGEST_LINE:
            return Lines(widget=forms.Textarea(attrs={"rows": 3}), **options)
        return Line(**options)
    if isinstance(declared, Own):
        widget = INPUTS.get(declared.of, forms.TextInput)
        return Line(max_length=LONGEST_OWN, widget=widget(attrs={"spellcheck": "false"}), **options)
    return Line(max_length=LONGEST_NAME, **options)


class PrerequisitesForm(forms.Form):
    """What the workspace has; `told` are those, in words and whether met, that a feature answers for itself."""

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
        has.choices = [(name, words[:1].upper() + words[1:]) for name, words in names.items()]
        self.told = [(words, name in met) for name, words in REQUIREMENTS.items() if name not in names]

    def facts(self) -> dict[str, bool]:
        return {name: name in self.cleaned_data["has"] for name in asked_requirements()}


class SlotForm(forms.Form):
    """One input for each slot that still has its place in the flow."""

    def __init__(self, *args: Any, automation: Automation, **options: Any) -> None:
        super().__init__(*args, **options)
        self.places: dict[str, Place] = {}
        for number, slot in enumerate(automation.slots, 1):
            place = (slot["node"], slot["path"])
            try:
                value = value_in(automation.draft, place)
            except NoSuchSlot:
                continue
            name = f"slot_{number}"
            declared = declared_field(automation.draft, place)
            self.places[name] = place
            self.fields[name] = input_for(
                declared, label=slot["label"], hint=slot["step"], value="" if value is None else str(value)
            )

    def changes(self) -> dict[Place, Any]:
        """Give the values that are new; one that was emptied is None."""
        given = self.cleaned_data
        changed = [name for name in self.places if given[name] != self.fields[name].initial]
        return {self.places[name]: given[name] or None for name in changed}

    def blame(self, error: SlotRefused) -> None:
        """Put a refusal beside the slots it names."""
        for name, place in self.places.items():
            for sentence in error.errors.get(".".join(place), []):
                self.add_error(name, sentence)
        if not self.errors:
            self.add_error(None, error.message)
