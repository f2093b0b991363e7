"""Reads rows of the engine into what decisions are based on."""

from uuid import UUID

from config.api.requests import parse_uuid
from workspaces.automations.engine.rows import ContactWork, ConversationRow, EventRow, RunRow
from workspaces.automations.execution.decision_facts import EventFacts, ListeningRun, WaitingRun
from workspaces.automations.execution.interpreter import accepts_reply, options_of
from workspaces.automations.execution.types import CallEnded, Replied, RunContext, WaitKind
from workspaces.automations.flows.flow import Flow


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
