"""The engine's loop: batch after batch, each in one transaction, and contacts that broke a batch one at a time."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from django.db import connection, transaction

from config.db import database_now
from config.garbage_collection import rare_collections
from config.leases.claimer import WakeUpListener
from config.metrics import count
from config.postgresql.concurrency import retry_on_conflict
from config.recovery.identity import is_confirmed
from config.tries.counting import run_counted
from workspaces.automations.engine.deciding import decide_batch
from workspaces.automations.engine.internal_calls import make_calls
from workspaces.automations.engine.picking import (
    Picker,
    clear_suspect,
    give_up_contact,
    lock_contacts,
    suspect_contacts,
    suspect_contacts_of_dead_workers,
)
from workspaces.automations.engine.planning import BatchPlan
from workspaces.automations.engine.reading import TriggerCache, read_work
from workspaces.automations.engine.writing import write_plan
from workspaces.automations.services.run_counts import MOST_BATCHES, merge_counts
from workspaces.automations.services.run_failures import switch_off_failing
from workspaces.automations.services.trigger_events import ENGINE

RUN_STATES: Final = frozenset({"started", "completed", "stopped", "failed"})
logger = logging.getLogger(__name__)

KIND: Final = "automations"
BATCH: Final = 200
IDLE_SECONDS: Final = 1.0
# The time between two looks at the database's identity, and for batches whose process died.
LOOK_SECONDS: Final = 5.0
# Under load the counts of batches are added up so often, and else as soon as nothing is due.
MERGE_SECONDS: Final = 30.0
# Contacts that broke a batch are worked on for so long in each turn.
SUSPECT_SECONDS: Final = 0.5


class Engine:
    """Works on due contacts. Any number of processes may do so at once."""

    def __init__(self, *, batch: int = BATCH) -> None:
        self._picker = Picker(batch=batch)
        self._cache = TriggerCache()
        self._looked_at: float | None = None
        self._is_confirmed = False
        self._has_counts = True
        self._merged_at = time.monotonic()

    def begin(self) -> None:
        """Show that this process lives."""
        self._picker.hold()

    def end(self) -> None:
        """Show that this process works on nothing any more."""
        self._picker.release()

    def run_turn(self) -> int:
        """Work on one batch and on a few suspects. Return how many contacts were worked on.

        After a restore nothing is done until `after_restore` has run.
        """
        if not self._look():
            return 0
        self._picker.make_due()
        contacts = self._picker.pick()
        done = self._work(contacts) if contacts else 0
        done += self._work_on_suspects()
        self._merge_counts(is_idle=not done)
        return done

    def _merge_counts(self, *, is_idle: bool) -> None:
        now = time.monotonic()
        if now - self._merged_at > MERGE_SECONDS or (is_idle and self._has_counts):
            self._has_counts = retry_on_conflict(merge_counts) == MOST_BATCHES
            self._merged_at = self._merged_at if self._has_counts else now

    def _look(self) -> bool:
        """Every few seconds, look at the database's identity and for dead workers. Return whether to go on."""
        now = time.monotonic()
        if not self._is_confirmed or self._looked_at is None or now - self._looked_at > LOOK_SECONDS:
            self._looked_at = now
            with connection.cursor() as cursor:
                self._is_confirmed = is_confirmed(cursor)
            if self._is_confirmed:
                suspect_contacts_of_dead_workers(worker=self._picker.worker)
        return self._is_confirmed

    def _work(self, contacts: Sequence[int]) -> int:
        self._picker.begin(contacts)
        try:
            return retry_on_conflict(partial(self._do_batch, contacts))
        except Exception:  # a flow or an effect may raise anything; it concerns these contacts only
            if not connection.is_usable():
                raise  # the database is away; the contacts are not at fault
            logger.exception("a batch of automations failed", extra={"contacts": len(contacts)})
            suspect_contacts(contacts)
            return len(contacts)

    def _do_batch(self, contacts: Sequence[int], *, is_suspect: bool = False) -> int:
        plan: BatchPlan | None = None
        with transaction.atomic(durable=True):
            now = database_now()
            locked = lock_contacts(contacts)
            if locked:
                plan = decide_batch(read_work(locked, cache=self._cache), cache=self._cache, now=now)
                write_plan(plan)
                if is_suspect:
                    clear_suspect(locked[0])
            self._picker.end()
        if plan is not None:
            make_calls(plan.stored_calls)
            self._has_counts = self._has_counts or bool(plan.counts)
            _count(plan)
            if plan.failed:
                switch_off_failing({run.automation_id for run in plan.failed}, now)
        return len(locked)

    def _work_on_suspects(self) -> int:
        until, done, seen = time.monotonic() + SUSPECT_SECONDS, 0, set[int]()
        while (contact := self._picker.next_suspect()) is not None and contact not in seen:
            seen.add(contact)
            done += self._work_alone(contact)
            if time.monotonic() > until:
                break
        return done

    def _work_alone(self, contact: int) -> int:
        """Work on a suspect with counted tries. After five tries that died or broke off it is given up."""
        give_up = partial(give_up_contact, contact)
        try:
            return run_counted(
                partial(retry_on_conflict, partial(self._do_batch, [contact], is_suspect=True)),
                kind=KIND,
                key=contact,
                give_up=give_up,
                counts_faults=True,
            )
        except Exception:  # as above: it concerns this contact only
            if not connection.is_usable():
                raise
            logger.exception("a contact's automations failed")
            return 0


def _count(plan: BatchPlan) -> None:
    for outcome, number in Counter(event.outcome for event in plan.events).items():
        count("automation_facts_total", number, label=str(outcome))
    for (_, _, node, state), number in plan.counts.items():
        if not node and state in RUN_STATES:
            count("automation_runs_total", number, label=state)


def run_due(*, turns: int = 1_000) -> int:
    """Work until nothing is due. Return how many contacts were worked on."""
    engine, done = Engine(), 0
    engine.begin()
    try:
        for _ in range(turns):
            found = engine.run_turn()
            done += found
            if not found:
                break
    finally:
        engine.end()
    return done


def run_engine(*, should_stop: Callable[[], bool], idle_seconds: float = IDLE_SECONDS) -> None:
    """Work on due contacts until `should_stop`. A wake-up ends a rest; without one the loop looks by itself."""
    woken, engine = threading.Event(), Engine()
    listener = WakeUpListener(ENGINE, woken.set)
    listener.thread.start()
    engine.begin()
    try:
        with rare_collections():
            while not should_stop():
                woken.clear()
                if not engine.run_turn():
                    woken.wait(idle_seconds)
    finally:
        listener.stop()
        engine.end()
