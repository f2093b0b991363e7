"""What a check of a flow finds."""

from dataclasses import dataclass

from workspaces.automations.flows.fields import Path


@dataclass(frozen=True, slots=True)
class Problem:
    """What keeps a flow from being published; `empty` when a field merely waits to be filled in."""

    sentence: str
    node: str = ""
    path: Path = ()
    empty: bool = False
