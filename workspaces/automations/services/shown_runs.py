"""Reads runs with their contacts and steps, for the API, events and pages: two statements for any number of runs."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import connection

from config.postgresql.arrays import integers
from workspaces.automations.models import AutomationRun
from workspaces.contacts.models import Contact

# Of each run of a list, the latest so many steps are shown; of one run, so many.
STEPS_IN_LISTS: Final = 50
STEPS_OF_ONE: Final = 1_000

LATEST_STEPS: Final = """
SELECT step.run_id, step.seq, step.node, step.port, step.detail, step.message_id, step.at
FROM unnest(%s::bigint[]) AS run (id)
CROSS JOIN LATERAL (
    SELECT * FROM automations_automationrunstep AS step WHERE step.run_id = run.id ORDER BY step.seq DESC LIMIT %s
) AS step
ORDER BY step.run_id, step.seq
"""


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step that a run has done. `outcome` is the port that it left by, or waiting, ended or failed."""

    seq: int
    node: str
    outcome: str
    at: datetime
    detail: str = ""
    message_id: int | None = None


@dataclass(frozen=True, slots=True)
class ShownError:
    code: str
    node: str
    message: str


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run with its contact and its latest steps in their order. `contact` is None for a moment after its removal."""

    run: AutomationRun
    contact: Contact | None
    steps: Sequence[ShownStep]

    @property
    def starter(self) -> dict[str, str]:
        return {"kind": self.run.started_by_kind, "label": self.run.started_by_label}

    @property
    def error(self) -> ShownError | None:
        run = self.run
        return ShownError(run.error_code, run.error_node, run.error_message) if run.error_code else None


def shown_runs(runs: Iterable[AutomationRun], *, most_steps: int = STEPS_IN_LISTS) -> list[ShownRun]:
    """Add contacts and steps to runs."""
    rows = list(runs)
    contacts = Contact.objects.in_bulk({one.contact_id for one in rows}) if rows else {}
    steps = _steps(rows, most_steps)
    return [ShownRun(one, contacts.get(one.contact_id), steps[one.pk]) for one in rows]


def shown_run(run: AutomationRun) -> ShownRun:
    [shown] = shown_runs([run], most_steps=STEPS_OF_ONE)
    return shown


def _steps(runs: Sequence[AutomationRun], most: int) -> dict[int, list[ShownStep]]:
    found: dict[int, list[ShownStep]] = defaultdict(list)
    if not runs:
        return found
    with connection.cursor() as cursor:
        cursor.execute(LATEST_STEPS, [integers([one.pk for one in runs]), most])
        for run, seq, node, port, detail, message, at in cursor.fetchall():
            # A step without a port has waited, if nothing says otherwise.
            found[run].append(ShownStep(seq, node, port or "waiting", at, detail, message))
    for one in runs:
        _name_end(one, found[one.pk])
    return found


def _name_end(run: AutomationRun, steps: list[ShownStep]) -> None:
    """Say of the last step that the run ended or failed there."""
    ended_at = run.ended_at
    if ended_at is None or run.status not in END_OUTCOMES:
        return
    outcome = END_OUTCOMES[AutomationRun.Status(run.status)]
    node = run.error_node or run.node
    last = steps[-1] if steps else None
    if last is not None and last.outcome == "waiting" and (last.node == node or outcome == "ended"):
        steps[-1] = ShownStep(last.seq, last.node, outcome, last.at, last.detail, last.message_id)
    elif outcome == "failed":
        steps.append(ShownStep(run.seq + 1, node, outcome, ended_at))


END_OUTCOMES: Final = {AutomationRun.Status.COMPLETED: "ended", AutomationRun.Status.FAILED: "failed"}
