"""A problem that a check of a flow finds."""

from dataclasses import dataclass

from workspaces.automations.flows.fields import Path


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem that keeps a flow from being published. `empty` says that a field is only not filled in yet."""

    sentence: str
    node: str = ""
    path: Path = ()
    empty: bool = False
