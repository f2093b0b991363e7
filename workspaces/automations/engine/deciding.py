"""Decides what happens to locked contacts: each new fact once, then each wait that has ended. It writes nothing."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

from config.api.requests import parse_uuid
from workspaces.automations.engine.contents import MessageContents
from workspaces.automations.engine.planning import BatchPlan, EventResult
from workspaces.automations.engine.progress import RunProgress
from workspaces.automations.engine.reading import TriggerCache
from workspaces.automations.engine.rows import ContactWork, ConversationRow, EventRow, RunRow
from workspaces.automations.execution.decision_facts import ContactFacts, EventFacts, ListeningRun, WaitingRun
from workspaces.automations.execution.decisions import Decision, Outcome, decide
from workspaces.automations.execution.interpreter import accepts_reply, begin_state, options_of
from workspaces.automations.execution.keywords import Trigger
from workspaces.automations.execution.languages.contacts import languages_of
from workspaces.automations.execution.opening_hours import is_open
from workspaces.automations.execution.types import CallEnded, Replied, RunContext, RunEvent, Started, TimedOut, WaitKind
from workspaces.automations.flows.flow import Flow

# An answer that comes later than this would puzzle the contact.
LATEST: Final = timedelta(hours=24)
# Facts from before a workspace was restored are answered only if they are younger than this at that time.
LATEST_BEFORE_RESTORING: Final = timedelta(hours=1)
APPOINTMENT_BOOKED: Final = "appointment_booked"
ENDED_BY_BOOKING: Final = frozenset({"time", "reply", "event"})
CAUGHT_AGAIN_AFTER: Final = timedelta(hours=24)


def decide_batch(work: Sequence[ContactWork], *, cache: TriggerCache, now: datetime) -> BatchPlan:
    """Decide for each contact, and return everything that must be written.

    All flows that the first facts need are read at once.
    """
    plan, contents = BatchPlan(now), MessageContents()
    cache.read_versions(run.version_id for contact in work for run in contact.runs)
    deciders = [ContactDecider(one, plan=plan, contents=contents, cache=cache, now=now) for one in work]
    cache.read_versions([version for decider in deciders for version in decider.begin()])
    for contact, decider in zip(work, deciders, strict=True):
        plan.work.append(contact)
        decider.run()
    return plan


class ContactDecider:
    """Works on one contact. Its `ContactWork` changes as it goes, and the plan collects the writes."""

    def __init__(
        self, work: ContactWork, *, plan: BatchPlan, contents: MessageContents, cache: TriggerCache, now: datetime
    ) -> None:
        self._work = work
        self._plan = plan
        self._cache = cache
        self._now = now
        self._first: Decision | None = None
        self._progress = RunProgress(work, plan=plan, contents=contents, cache=cache, now=now)

    def begin(self) -> list[int]:
        """Decide about the first new fact. Return the versions of the automations that it starts."""
        if self._work.is_opted_out:
            self._stop([run for run in self._work.runs if run.is_active], "opted_out")
        if not self._work.events or self._is_late(self._work.events[0]):
            return []
        self._first = self._decision(self._work.events[0])
        return [match.trigger.version_id for match in self._first.starts]

    def run(self) -> None:
        """Apply the decisions about all new facts in their order, then continue the runs whose waits have ended."""
        for event in self._work.events:
            self._decide(event)
        for run in sorted(self._due(), key=lambda run: run.wait_until or self._now):
            if run.is_due(self._now):
                self._wake(run)
        self._give_turns()

    def _due(self) -> list[RunRow]:
        return [run for run in self._work.runs if run.is_due(self._now)]

    def _wake(self, run: RunRow) -> None:
        if run.wait_kind == "begin":
            self._progress.advance(run, Started())
        else:
            self._progress.advance(run, TimedOut())

    def _give_turns(self) -> None:
        """Let runs go on that waited for another one to stop listening."""
        for run in list(self._work.runs):
            if run.is_active and run.wait_kind == WaitKind.TURN and self._listening(run.conversation_id) is None:
                self._progress.advance(run, TimedOut())

    def _listening(self, conversation: int | None) -> RunRow | None:
        return next((run for run in self._work.runs if run.listens and run.conversation_id == conversation), None)

    # Facts -----------------------------------------------------------------------------------------------

    def _decide(self, event: EventRow) -> None:
        if self._is_late(event):
            self._plan.events.append(EventResult(event.id, Outcome.NOTHING, "too_late"))
            return
        conversation = self._work.conversations.get(event.conversation_id or 0)
        decision, self._first = self._first or self._decision(event), None
        self._stop([run for run in self._work.runs if run.ref in decision.stops and run.is_active], decision.reason)
        if decision.hands_over and conversation is not None:
            self._progress.hand_over(conversation)
        touched = [self._continue(number, happened) for number, happened in decision.continues]
        touched += [self._start(match.trigger, event, conversation) for match in decision.starts]
        self._record(event, decision, [run for run in touched if run is not None])

    def _decision(self, event: EventRow) -> Decision:
        conversation = self._work.conversations.get(event.conversation_id or 0)
        facts = event_facts(event, self._work, conversation)
        return decide(facts, self._contact_facts(event, conversation), self._work.triggers.compiled)

    def _record(self, event: EventRow, decision: Decision, touched: Sequence[RunRow]) -> None:
        run = touched[0] if touched else None
        if run is None and decision.outcome is not Outcome.NOTHING:
            self._plan.events.append(EventResult(event.id, Outcome.NOTHING, "no_channel"))
            return
        automation = run.automation_id if run else None
        self._plan.events.append(EventResult(event.id, decision.outcome, decision.reason, automation, run))

    def _is_late(self, event: EventRow) -> bool:
        if event.kind == "call_ended":
            return False
        restored = self._work.restored_at
        is_from_before = restored is not None and event.created_at < restored - LATEST_BEFORE_RESTORING
        return is_from_before or event.created_at < self._now - LATEST

    def _contact_facts(self, event: EventRow, conversation: ConversationRow | None) -> ContactFacts:
        work = self._work
        listening = self._listening(conversation.id if conversation else None)
        is_first = bool(event.data.get("first"))
        return ContactFacts(
            paused=conversation is not None and conversation.is_paused,
            opted_out=work.is_opted_out,
            is_first_message=is_first,
            is_open_now=is_first and is_open(work.workspace.opening_hours, work.workspace.timezone, self._now),
            caught_lately=self._was_caught_lately(),
            languages=languages_of(work.values.language, work.values.country),
            listening=self._listening_run(listening, conversation),
            waiting=[waiting_run(run, work) for run in work.runs if run.is_active and not run.listens],
            end_on_booking=self._ending_on_booking() if event.kind == APPOINTMENT_BOOKED else (),
            may_enter=partial(self._may_enter, subject=_subject_of(event)),
        )

    def _listening_run(self, run: RunRow | None, conversation: ConversationRow | None) -> ListeningRun | None:
        if run is None:
            return None
        flow = self._cache.version(run.version_id).flow
        return listening_run(run, flow, self._progress.context(conversation, run))

    def _was_caught_lately(self) -> bool:
        entries = self._work.last_entries
        if not entries:
            return False
        known, since = self._work.triggers.automations, self._now - CAUGHT_AGAIN_AFTER
        return any(at > since for pk, at in entries.items() if pk in known and known[pk].catch_all)

    def _ending_on_booking(self) -> list[int]:
        """Return the runs that end because the contact books. The run that does so waits for a call."""
        known = self._work.triggers.automations
        waiting = [run for run in self._work.runs if run.is_active and run.wait_kind in ENDED_BY_BOOKING]
        return [one.ref for one in waiting if one.automation_id in known and known[one.automation_id].stops_on_booking]

    def _may_enter(self, automation: int, subject: str) -> bool:
        """Say whether the contact may start the automation. Runs of two appointments go on beside each other."""
        known = self._work.triggers.automations.get(automation)
        active = [run for run in self._work.runs if run.is_active and run.automation_id == automation]
        if known is None or any(run.subject == subject for run in active):
            return False
        last = self._work.last_entries.get(automation)
        if last is None or known.reentry == "always":
            return True
        return known.reentry == "after" and last <= self._now - timedelta(days=known.reentry_days)

    # Runs ------------------------------------------------------------------------------------------------

    def _continue(self, number: int, happened: RunEvent) -> RunRow | None:
        run = next((run for run in self._work.runs if run.ref == number and run.is_active), None)
        if run is not None:
            self._progress.advance(run, happened)
        return run

    def _start(self, trigger: Trigger, event: EventRow, conversation: ConversationRow | None) -> RunRow | None:
        place = conversation if conversation and conversation.platform == trigger.platform else None
        if place is None:
            channel = event.channel_id if event.platform == trigger.platform else None
            place = self._progress.conversation_for(trigger.platform, channel)
        if place is None:
            return None
        known = self._work.triggers.automations[trigger.automation_id]
        version = self._cache.version(trigger.version_id)
        identity = uuid.uuid4()
        run = RunRow(
            pk=None,
            uuid=identity,
            contact_id=self._work.pk,
            automation_id=trigger.automation_id,
            version_id=trigger.version_id,
            channel_id=place.channel_id,
            conversation_id=place.id,
            status="running",
            state=begin_state(version.flow, token=identity.hex, values=_values(event)),
            wait_kind="begin",
            wait_until=self._now + timedelta(days=1),
            depth=event.depth,
            subject=_subject_of(event),
            comment=str(event.data.get("comment", "")) if event.kind == "comment" else "",
            started_at=self._now,
            started_by_kind="automation" if event.cause else "system",
            entry_key="once" if known.reentry == "once" else "",
            event=event.id,
        )
        self._work.runs.append(run)
        self._work.last_entries[trigger.automation_id] = self._now
        self._plan.new_runs.append(run)
        self._plan.count(run, "started")
        self._progress.advance(run, Started(text=event.text))
        return run

    def _stop(self, runs: Sequence[RunRow], reason: str) -> None:
        for run in runs:
            self._progress.stop(run, reason)


def _subject_of(event: EventRow) -> str:
    """Return what separates runs of one automation: the appointment that a fact is about."""
    appointment = _values(event).get("appointment") if event.kind.startswith("appointment_") else None
    return str(appointment.get("id", "")) if appointment else ""


def _values(event: EventRow) -> Mapping[str, Mapping[str, str]]:
    """Return the values of a fact that texts of the flow may use."""
    told = event.data.get("values")
    return told if isinstance(told, dict) else {}


# What decisions are based on -----------------------------------------------------------------------


def event_facts(event: EventRow, work: ContactWork, conversation: ConversationRow | None) -> EventFacts:
    """Return what an event says. A comment's text is in its data, a message's in its own row."""
    data = event.data
    referral = data.get("referral")
    is_call = event.kind == "call_ended"
    return EventFacts(
        kind=event.kind,
        platform=conversation.platform if conversation else event.platform,
        text=event.text or str(data.get("text", "")),
        message_type=event.type or "text",
        payload=event.payload,
        media=event.media,
        subject=event.subject,
        ad=event.subject if isinstance(referral, dict) and event.kind == "message" else None,
        story=str(data.get("story") or ""),
        is_opt_out=bool(data.get("opts_out")),
        depth=event.depth,
        cause=data.get("by"),
        automation_id=_automation_of(data.get("automation"), work) if event.kind == "start" else None,
        run_id=data.get("run") if is_call else None,
        seq=int(data.get("seq") or 0) if is_call else 0,
        call=CallEnded(bool(data.get("ok")), data.get("result") or {}, data.get("code") or "") if is_call else None,
        values=data.get("values") or {},
    )


def _automation_of(name: object, work: ContactWork) -> int | None:
    uuid: UUID | None = parse_uuid(str(name))
    return next((pk for pk, one in work.triggers.automations.items() if one.uuid == uuid), None)


def listening_run(run: RunRow, flow: Flow, context: RunContext) -> ListeningRun:
    """Return a run that listens, with the titles of its options. Buttons of all askings of its question count."""
    options = options_of(flow, run.state, context)

    def accepts(reply: Replied) -> bool:
        return accepts_reply(flow, run.state, reply, context)

    return ListeningRun(
        run_id=run.ref,
        token=run.uuid.hex,
        seq=run.state.seq,
        oldest_seq=run.state.seq - run.state.repeats,
        ports=[option.port for option in options],
        options=[option.title for option in options],
        accepts=accepts,
    )


def waiting_run(run: RunRow, work: ContactWork) -> WaitingRun:
    """Return a run that waits for something other than an answer."""
    known = work.triggers.automations.get(run.automation_id)
    kind = run.state.wait.kind if run.state.wait else WaitKind.TURN
    key = run.state.wait.key if run.state.wait else ""
    return WaitingRun(run.ref, kind, run.state.seq, key, stops_on_reply=known is not None and known.stops_on_reply)
