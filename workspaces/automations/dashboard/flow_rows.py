"""A flow as the rows of the editor's page: each place, the step that stands there, and what is wrong with it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from agency.pages.branding import in_page_language
from config.formats import format_percent
from workspaces.automations.dashboard.forms import declared_field
from workspaces.automations.flows.availability import reasons_unavailable
from workspaces.automations.flows.checks import Problem, problems_of
from workspaces.automations.flows.fields import Field
from workspaces.automations.flows.flow import TRIGGER_NODE, Step, open_slots, steps_of
from workspaces.automations.flows.outline import START, OutlineRow, Place, config_of, outline
from workspaces.automations.flows.presentation import NameLookup, branch_label, value_label, value_text
from workspaces.automations.flows.registry import STEPS, TRIGGERS
from workspaces.automations.models import Automation

# Deeper branches are not indented further, so that they fit on a phone.
MOST_INDENTED: Final = 5
LONGEST_VALUE_SHOWN: Final = 400


@dataclass(frozen=True, slots=True)
class StepCard:
    """A step for people: its number, its name, its values as (label, text), and its problems."""

    id: str
    number: int
    label: str
    values: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        return _("Step %(number)s: %(label)s") % {"number": self.number, "label": self.label}


@dataclass(frozen=True, slots=True)
class EditorRow:
    """A place: its condition (empty for what simply follows), its name for people, and what stands there."""

    node: str
    port: str
    depth: int
    condition: str
    name: str
    step: StepCard | None = None
    repeated: StepCard | None = None


class FlowReader:
    """Reads an automation's draft for pages. `names` gives the names of files, products …."""

    def __init__(self, automation: Automation, names: NameLookup) -> None:
        self.automation, self.flow, self.names = automation, automation.draft, names
        self.steps = {step["id"]: step for step in steps_of(self.flow)}
        self._numbers = {node: number for number, node in enumerate(self.steps, 1)}

    @cached_property
    def problems(self) -> dict[str, list[str]]:
        """The sentences about each node; those about no node stand under the empty id."""
        found: dict[str, dict[str, None]] = {}
        for problem in problems_of(self.flow, platform=self.automation.platform):
            found.setdefault(problem.node, {})[self._sentence(problem)] = None
        for slot in open_slots(self.flow, self.automation.slots):
            found.setdefault(slot["node"], {})[_is_missing(slot["label"])] = None
        return {node: list(sentences) for node, sentences in found.items()}

    @property
    def problem_count(self) -> int:
        return sum(map(len, self.problems.values()))

    def _sentence(self, problem: Problem) -> str:
        path = ".".join(str(part) for part in problem.path)
        declared = declared_field(self.flow, (problem.node, path)) if problem.empty and problem.node else None
        if declared is not None:
            return _is_missing(declared.label)
        return in_page_language(problem.sentence)

    @property
    def unavailable(self) -> list[str]:
        """The reasons for which the product cannot run a flow that is filled in."""
        return [] if self.problems else reasons_unavailable(self.flow, self.automation.platform)

    @property
    def rows(self) -> list[EditorRow]:
        return [self._row(row) for row in outline(self.flow)]

    def _row(self, row: OutlineRow) -> EditorRow:
        target = self.card(row.target) if row.target else None
        return EditorRow(
            row.node,
            row.port,
            min(row.depth, MOST_INDENTED),
            self.condition(row.place),
            self.place_name(row.place),
            None if row.is_repeat else target,
            target if row.is_repeat else None,
        )

    @property
    def cut_off(self) -> list[StepCard]:
        """The steps of a broken draft to which nothing leads."""
        shown = {row.step for row in outline(self.flow)}
        return [self.card(node) for node in self.steps if node not in shown]

    @property
    def trigger(self) -> StepCard:
        given = self.flow[TRIGGER_NODE]
        declared = TRIGGERS.get(given["type"])
        values = list(self._values(declared.fields if declared else (), config_of(given)))
        label = _(declared.label) if declared else str(given["type"])
        return StepCard(TRIGGER_NODE, 0, label, values, self.problems.get(TRIGGER_NODE, []))

    def card(self, node: str) -> StepCard:
        step = self.steps[node]
        declared = STEPS.get(step["type"])
        values = list(self._values(declared.fields if declared else (), config_of(step)))
        label = _(declared.label) if declared else str(step["type"])
        return StepCard(node, self._numbers[node], label, values, self.problems.get(node, []))

    def _values(self, fields: tuple[Field, ...], config: dict[str, object]) -> Iterator[tuple[str, str]]:
        for one in fields:
            text = value_text(one, config.get(one.name), self.names)
            if text:
                yield _(one.label), text[:LONGEST_VALUE_SHOWN] + ("…" if len(text) > LONGEST_VALUE_SHOWN else "")

    def condition(self, place: Place) -> str:
        """Say when this place is reached: `If they choose “Prices”`; empty for what simply follows."""
        node, port = place
        if place == START or node not in self.steps or port == "next":
            return ""
        return condition_text(self.steps[node], port)

    def place_name(self, place: Place) -> str:
        """Name a place for people: `after step 3`."""
        if place == START:
            return _("at the start")
        number, condition = self._numbers.get(place[0], 0), self.condition(place)
        if condition:
            return _("at step %(number)s (%(condition)s)") % {"number": number, "condition": condition}
        return _("after step %(number)s") % {"number": number}

    def card_titles(self, nodes: list[str]) -> list[str]:
        return [self.card(node).title for node in nodes if node in self.steps]


def condition_text(step: Step, port: str) -> str:
    declared = STEPS.get(step["type"])
    label = branch_label(port, step)
    if declared and declared.port_per and port.startswith(f"{declared.port_per[0]}_"):
        if declared.name == "split":
            share = _share(step, port)
            return _("In this share of cases: %(share)s") % {"share": share} if share else _("In the other cases")
        sentence = _("If it is about “%(topic)s”") if declared.ai else _("If they choose “%(topic)s”")
        return sentence % {"topic": label}
    if port == "other":
        return _("If it is anything else")
    return _("If: %(answer)s") % {"answer": value_label(port)}


def _share(step: Step, port: str) -> str:
    """Write a branch's share, such as `30%`; empty while it is not filled in."""
    parts, number = config_of(step).get("parts"), port.rpartition("_")[2]
    part = parts[int(number) - 1 :][:1] if isinstance(parts, list) and number.isdecimal() else []
    percent = part[0].get("percent") if part and isinstance(part[0], dict) else None
    return format_percent(percent) if isinstance(percent, int | float) else ""


def _is_missing(label: str) -> str:
    return _("%(label)s is not filled in.") % {"label": _(label)}
