"""Registries for the home page of a workspace's dashboard: apps add set-up steps and warnings."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agency.pages.registry import Alert, StrOrPromise, in_order
from config.hooks import Registry
from workspaces.subaccounts.models import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUpStep:
    """One step on the way to the first message, with the URL of the page where it is done."""

    title: StrOrPromise
    text: StrOrPromise
    url: str
    action: StrOrPromise
    is_done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUpSource:
    """One app's steps. `steps` checks what the workspace has, in a bounded number of statements."""

    name: str
    order: int
    steps: Callable[[Workspace], Iterable[SetUpStep]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceConcernSource:
    """One app's warnings about a workspace. `concerns` takes a bounded number of statements."""

    name: str
    order: int
    concerns: Callable[[Workspace], Iterable[Alert]]


set_up_sources = Registry[SetUpSource](
    "sources of set-up steps",
    called="`checklist_of` calls each for the dashboard's home page, by their `order`",
    transaction="none",
    failure="the page answers 500",
)
workspace_concern_sources = Registry[WorkspaceConcernSource](
    "sources of a workspace's concerns",
    called="`concerns_of_workspace` calls each for the dashboard's home page, by their `order`",
    transaction="none",
    failure="the page answers 500",
)


@dataclass(frozen=True, slots=True)
class Checklist:
    """The steps in order. `following` is the first that is not done."""

    steps: list[SetUpStep]

    @property
    def following(self) -> SetUpStep | None:
        return next((step for step in self.steps if not step.is_done), None)

    @property
    def done_count(self) -> int:
        return sum(step.is_done for step in self.steps)


def checklist_of(workspace: Workspace) -> Checklist:
    return Checklist([step for source in in_order(set_up_sources) for step in source.steps(workspace)])


def concerns_of_workspace(workspace: Workspace) -> list[Alert]:
    return [concern for source in in_order(workspace_concern_sources) for concern in source.concerns(workspace)]
