"""The results of a batch: what the writer must store. The decider fills it, contact by contact."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

from workspaces.automations.engine.rows import ContactWork, RunRow
from workspaces.automations.execution.internal_calls import InternalCall
from workspaces.automations.execution.types import CallAi, CallHttp, CreateTask, Effect
from workspaces.conversations.services.content import CheckedContent

EffectOf_co = TypeVar("EffectOf_co", bound=Effect, covariant=True)


class EventResult(NamedTuple):
    """What became of a fact. `run` is the run that it started or continued."""

    event: int
    outcome: str
    reason: str
    automation_id: int | None = None
    run: RunRow | None = None


@dataclass(slots=True)
class StepResult:
    """A step that a run has done. `messages` are the places of its messages in `BatchPlan.messages`."""

    run: RunRow
    seq: int
    node: str
    port: str
    detail: str
    at: datetime
    messages: list[int] = field(default_factory=list)


class PlannedMessage(NamedTuple):
    """A message of a run, checked and ready to be queued."""

    run: RunRow
    work: ContactWork
    conversation_id: int
    content: CheckedContent
    label: str


class PlannedEffect(NamedTuple, Generic[EffectOf_co]):
    """A change of the database that a step makes."""

    run: RunRow
    work: ContactWork
    seq: int
    effect: EffectOf_co


class PlannedTask(NamedTuple):
    """A task that a step creates. What is refused about it becomes the step's detail."""

    run: RunRow
    work: ContactWork
    step: StepResult
    effect: CreateTask


class PlannedCall(NamedTuple):
    """A call of another system, named by the run and the number of the step."""

    run: RunRow
    work: ContactWork
    seq: int
    call: CallHttp | CallAi


class PlannedInternalCall(NamedTuple):
    """A call of the product's own appointments or invoices, named by the run and the number of the step."""

    run: RunRow
    work: ContactWork
    seq: int
    call: InternalCall


# An automation, one of its versions, a step ("" for whole runs), and a port or what happened.
CountKey = tuple[int, int, str, str]


@dataclass(slots=True)
class BatchPlan:
    """All that a batch writes, in the order in which the contacts were worked on.

    `labels` are the names of the automations, by version. `hand_overs` are conversations whose contacts asked for a
    person. `stored_calls` are the keys of the internal calls, once they are written.
    """

    now: datetime
    work: list[ContactWork] = field(default_factory=list)
    events: list[EventResult] = field(default_factory=list)
    new_runs: list[RunRow] = field(default_factory=list)
    changed_runs: dict[int, RunRow] = field(default_factory=dict)
    steps: list[StepResult] = field(default_factory=list)
    messages: list[PlannedMessage] = field(default_factory=list)
    effects: list[PlannedEffect[Effect]] = field(default_factory=list)
    tasks: list[PlannedTask] = field(default_factory=list)
    hand_overs: list[tuple[ContactWork, int]] = field(default_factory=list)
    calls: list[PlannedCall] = field(default_factory=list)
    internal_calls: list[PlannedInternalCall] = field(default_factory=list)
    stored_calls: list[int] = field(default_factory=list)
    failed: list[RunRow] = field(default_factory=list)
    counts: Counter[CountKey] = field(default_factory=Counter)
    labels: dict[int, str] = field(default_factory=dict)

    def change(self, run: RunRow) -> None:
        """Have a run's row written, once, as it is at the end of the batch."""
        if run.pk is not None:
            self.changed_runs[run.pk] = run

    def count(self, run: RunRow, what: str, *, node: str = "", number: int = 1) -> None:
        """Count a step's port, or something that happened to a whole run."""
        self.counts[run.automation_id, run.version_id, node, what] += number
