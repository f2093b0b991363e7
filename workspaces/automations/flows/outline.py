"""The order in which people read a flow: from its start, each branch below the step that it belongs to."""

from collections.abc import Iterator
from dataclasses import dataclass

from workspaces.automations.flows.flow import TRIGGER_NODE, Config, Flow, Node, Step, steps_of
from workspaces.automations.flows.registry import STEPS

# A node and one of its outputs: a place where a step can stand.
Place = tuple[str, str]
START: Place = (TRIGGER_NODE, "next")
# Steps whose first output is one of these have only side branches. Other steps go on after their first output.
EQUAL_BRANCHES = frozenset({"yes", "open", "happy"})


@dataclass(frozen=True, slots=True)
class OutlineRow:
    """A place in a flow, and the step that stands there. `target` is empty where the flow ends.

    `is_repeat` says that an earlier row shows the step.
    """

    node: str
    port: str
    depth: int
    target: str = ""
    is_repeat: bool = False

    @property
    def place(self) -> Place:
        return self.node, self.port

    @property
    def step(self) -> str:
        """The id of the step that this row shows; empty if it shows none."""
        return "" if self.is_repeat else self.target


def config_of(step: Node) -> Config:
    config = step.get("config")
    return config if isinstance(config, dict) else {}


def ports_in_order(step: Step) -> list[str]:
    """Give the outputs of a step. One of an unknown type has those that lead somewhere."""
    declared = STEPS.get(step["type"])
    return declared.ordered_ports(config_of(step)) if declared else sorted(step.get("next", {}))


def target_of(flow: Flow, place: Place) -> str:
    """Give the id of the step to which a place leads; empty if it leads nowhere."""
    node, port = place
    if node == TRIGGER_NODE:
        return str(flow.get("entry") or "")
    step = next((one for one in steps_of(flow) if one["id"] == node), None)
    return str(step.get("next", {}).get(port, "")) if step else ""


def outline(flow: Flow) -> list[OutlineRow]:
    """Give all places of a flow that can be reached, in reading order. Only the structure must have been checked."""
    steps = {step["id"]: step for step in steps_of(flow)}
    rows: list[OutlineRow] = []
    seen: set[str] = set()
    ahead = [OutlineRow(*START, depth=0)]
    while ahead:
        row = ahead.pop()
        target = flow.get("entry") if row.place == START else steps[row.node].get("next", {}).get(row.port)
        shown = target if isinstance(target, str) and target in steps else ""
        rows.append(OutlineRow(row.node, row.port, row.depth, shown, shown in seen))
        if shown and shown not in seen:
            seen.add(shown)
            ahead += reversed(list(_places_below(steps[shown], row.depth)))
    return rows


def _places_below(step: Step, depth: int) -> Iterator[OutlineRow]:
    """Give the side branches, which are indented, and then the place where the flow goes on, which is not."""
    ports, onward = ports_in_order(step), port_onward(step)
    yield from (OutlineRow(step["id"], port, depth + 1) for port in ports if port != onward)
    if onward:
        yield OutlineRow(step["id"], onward, depth)


def port_onward(step: Step) -> str:
    """Give the output after which the flow simply goes on, such as `answered`; empty if all are side branches."""
    declared = STEPS.get(step["type"])
    if declared is None or declared.port_per or not declared.ports:
        return ""
    return "" if declared.ports[0] in EQUAL_BRANCHES else declared.ports[0]


def in_reading_order(flow: Flow) -> list[Step]:
    """Give the steps in the order of the outline, and those that cannot be reached at the end."""
    rows = outline(flow)
    shown = {row.step: position for position, row in enumerate(rows) if row.step}
    return sorted(steps_of(flow), key=lambda step: shown.get(step["id"], len(rows)))
