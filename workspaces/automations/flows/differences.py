"""What publishing a draft would change, for people to read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from django.utils.translation import gettext as _

from workspaces.automations.flows.fields import Field
from workspaces.automations.flows.flow import TRIGGER_NODE, Flow, Step, steps_of
from workspaces.automations.flows.outline import config_of, ports_in_order
from workspaces.automations.flows.presentation import NameLookup, branch_label, value_text
from workspaces.automations.flows.registry import STEPS, TRIGGERS


class Kind(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class ChangedValue:
    """A value before and after the change. An empty text means that there is none."""

    label: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A step, or the start, that is added, changed or removed, with its values that differ."""

    kind: Kind
    title: str
    values: list[ChangedValue] = field(default_factory=list)


def differences(before: Flow | None, after: Flow, names: NameLookup) -> list[Difference]:
    """Give what changes from the published flow to the draft, in the order of the draft. Removed steps come last."""
    old = {step["id"]: step for step in steps_of(before)} if before else {}
    new = {step["id"]: step for step in steps_of(after)}
    old_titles, new_titles = _titles(before) if before else {}, _titles(after)
    found = list(_trigger_difference(before, after, names))
    for node, step in new.items():
        if node not in old:
            values = [*_values(None, step, names), *_first_ways(step, new_titles)]
            found.append(Difference(Kind.ADDED, new_titles[node], values))
            continue
        values = [*_values(old[node], step, names), *_ways(old[node], step, old_titles, new_titles)]
        if values:
            found.append(Difference(Kind.CHANGED, new_titles[node], values))
    # A new step at the beginning says itself where it leads.
    if before and _first(before) in old and _first(before) != _first(after) in old:
        was, now = old_titles.get(_first(before), ""), new_titles.get(_first(after), "")
        found.insert(0, Difference(Kind.CHANGED, _("First step"), [ChangedValue(_("First step"), was, now)]))
    found += [Difference(Kind.REMOVED, old_titles[node]) for node in old if node not in new]
    return found


def _first(flow: Flow) -> str:
    return str(flow.get("entry") or "")


def _titles(flow: Flow) -> dict[str, str]:
    return {step["id"]: _step_title(number, step) for number, step in enumerate(steps_of(flow), 1)}


def _step_title(number: int, step: Step) -> str:
    declared = STEPS.get(step["type"])
    label = _(declared.label) if declared else step["type"]
    return _("Step %(number)s: %(label)s") % {"number": number, "label": label}


def _trigger_difference(before: Flow | None, after: Flow, names: NameLookup) -> Iterator[Difference]:
    is_same_type = before is not None and before[TRIGGER_NODE]["type"] == after[TRIGGER_NODE]["type"]
    old = config_of(before[TRIGGER_NODE]) if before and is_same_type else {}
    values = list(_changed(_trigger_fields(after), old, config_of(after[TRIGGER_NODE]), names))
    if before and not is_same_type:
        values.insert(0, ChangedValue(_("Starts with"), _trigger_name(before), _trigger_name(after)))
    if values or before is None:
        title = _("Start: %(label)s") % {"label": _trigger_name(after)}
        yield Difference(Kind.CHANGED if before else Kind.ADDED, title, values)


def _trigger_fields(flow: Flow) -> tuple[Field, ...]:
    declared = TRIGGERS.get(flow[TRIGGER_NODE]["type"])
    return declared.fields if declared else ()


def _trigger_name(flow: Flow) -> str:
    declared = TRIGGERS.get(flow[TRIGGER_NODE]["type"])
    return _(declared.label) if declared else str(flow[TRIGGER_NODE]["type"])


def _values(old: Step | None, new: Step, names: NameLookup) -> Iterator[ChangedValue]:
    declared = STEPS.get(new["type"])
    yield from _changed(declared.fields if declared else (), config_of(old) if old else {}, config_of(new), names)


def _changed(
    fields: tuple[Field, ...], old: Mapping[str, object], new: Mapping[str, object], names: NameLookup
) -> Iterator[ChangedValue]:
    for one in fields:
        before, after = old.get(one.name), new.get(one.name)
        if before != after and (texts := (value_text(one, before, names), value_text(one, after, names))) != ("", ""):
            yield ChangedValue(_(one.label), *texts)


def _first_ways(step: Step, titles: dict[str, str]) -> Iterator[ChangedValue]:
    """Give where the outputs of a new step lead."""
    for port in ports_in_order(step):
        target = step.get("next", {}).get(port, "")
        if target in titles:
            yield ChangedValue(branch_label(port, step) or _("Then"), "", titles[target])


def _ways(old: Step, new: Step, old_titles: dict[str, str], new_titles: dict[str, str]) -> Iterator[ChangedValue]:
    """Give the outputs that lead to another step than before."""
    was, now = old.get("next", {}), new.get("next", {})
    for port in dict.fromkeys([*ports_in_order(new), *ports_in_order(old)]):
        before, after = was.get(port, ""), now.get(port, "")
        if before != after:
            label = branch_label(port, new if port in ports_in_order(new) else old) or _("Then")
            end = _("the end")
            yield ChangedValue(label, old_titles.get(before, end), new_titles.get(after, end))
