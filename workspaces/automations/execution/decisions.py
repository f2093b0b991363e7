"""Decides what one event does: which run it continues, which automations it starts, or why it starts nothing.

A message or a comment has at most one effect. The rules stand in `MESSAGE_RULES` and `COMMENT_RULES`; the first one
that decides wins. Other facts, such as a tag or a birthday, start every automation that fits.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from django.utils.translation import gettext_noop as _

from workspaces.automations.execution.decision_facts import ContactFacts, EventFacts, ListeningRun, WaitingRun
from workspaces.automations.execution.keywords import EXACT, MODES, CompiledTriggers, TriggerMatch
from workspaces.automations.execution.languages.normalization import normalized, words_of
from workspaces.automations.execution.languages.phrases import asks_for_people
from workspaces.automations.execution.types import Happened, Replied, RunEvent, WaitKind

# No automation starts another one deeper than this.
MOST_DEPTH: Final = 5
BUTTON: Final = re.compile(r"run:([0-9a-f]{32}):(0|[1-9][0-9]{0,8}):([a-z][a-z0-9_]{0,39})", re.ASCII)
# Facts about which the contact expects one answer, as for a message. All other facts may start several automations.
ANSWERED_ONCE: Final = frozenset(
    {"ad_click", "story_mention", "chat_opened", "missed_call", "review_received", "question_received", "new_follower"}
)

REASONS: Final[Mapping[str, str]] = {
    "button": _("The contact pressed a button of an automation."),
    "answer": _("The message answers the question of an automation."),
    "ad_click": _("The conversation began with an ad."),
    "story_reply": _("The message replies to a story."),
    "story_mention": _("The contact mentioned the business in a story."),
    "keyword": _("The text has a keyword of the automation."),
    "first_message": _("It is the contact's first message."),
    "catch_all": _("The automation answers everything that no other automation answers."),
    "fact": _("The automation starts when this happens."),
    "awaited": _("An automation waited for this."),
    "started": _("A person or another automation started it."),
    "call_ended": _("Another system answered."),
    "automatic": _("The message was not written by a person."),
    "opted_out": _("The contact has opted out of messages."),
    "blocked": _("The contact is blocked."),
    "people_have_it": _("A person has taken over this conversation."),
    "hand_over": _("The contact asked for a person."),
    "stale_button": _("The button belongs to a question that is no longer open."),
    "catch_all_lately": _("The automation for all other messages has answered this contact in the last 24 hours."),
    "not_again": _("The contact may not go through the automation again now."),
    "started_itself": _("The automation caused this itself."),
    "too_deep": _("Too many automations in a row started each other."),
    "switched_off": _("The automation is switched off."),
    "too_late": _("It came too late for an automation."),
    "no_match": _("No automation fits."),
    # The engine finds this when it starts the automation.
    "no_channel": _("The contact cannot be reached on the automation's channel."),
}


class Outcome(StrEnum):
    """What became of an event, with the values of `TriggerEvent.Outcome`."""

    STARTED = "started"
    CONTINUED = "continued"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Decision:
    """What an event does. `continues` are runs with the event for the interpreter, `starts` the triggers that start.

    `stops` are runs that end because of it. `hands_over` says that people take over the conversation.
    """

    outcome: Outcome
    reason: str
    starts: tuple[TriggerMatch, ...] = ()
    continues: tuple[tuple[int, RunEvent], ...] = ()
    stops: tuple[int, ...] = ()
    hands_over: bool = False


def _nothing(reason: str) -> Decision:
    return Decision(Outcome.NOTHING, reason)


def decide(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision:
    """Decide what one event does. The same arguments give the same decision."""
    if event.kind == "message":
        return _decide_message(event, contact, triggers)
    if event.kind == "comment":
        return _first_decision(COMMENT_RULES, event, contact, triggers)
    if event.kind == "call_ended":
        return _end_of_call(event, contact)
    if event.kind == "start":
        return _start(event, contact, triggers)
    return _decide_fact(event, contact, triggers)


# Messages and comments -------------------------------------------------------------------------------

Rule = Callable[[EventFacts, ContactFacts, CompiledTriggers], Decision | None]


def _first_decision(
    rules: Sequence[Rule], event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers
) -> Decision:
    """Ask the rules in their order. Automations that the contact may not enter now are passed over."""
    passed_over = ""
    for rule in rules:
        decision = rule(event, contact, triggers)
        if decision is not None and decision.reason in PASSES_ON:
            passed_over = passed_over or decision.reason
        elif decision is not None:
            return decision
    return _nothing(passed_over or "no_match")


def _decide_message(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision:
    decision = _first_decision(MESSAGE_RULES, event, contact, triggers)
    if event.is_automatic:
        return decision
    # The contact wrote, whatever the message does: automations that wait for a moment in silence end.
    ended = [run.run_id for run in contact.waiting if run.stops_on_reply and run.wait_kind is WaitKind.TIME]
    return replace(decision, stops=(*decision.stops, *ended)) if ended else decision


def _automatic(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision | None:
    return _nothing("automatic") if event.is_automatic else None


def _opted_out(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision | None:
    return _nothing("opted_out") if event.is_opt_out or contact.opted_out else None


def _blocked(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision | None:
    return _nothing("blocked") if contact.blocked else None


def _people_have_it(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision | None:
    return _nothing("people_have_it") if contact.paused else None


def _button(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision | None:
    found = BUTTON.fullmatch(event.payload)
    if found is None:
        return None
    run, (token, seq, port) = contact.listening, found.groups()
    if run is None or token != run.token or (run.ports and port not in run.ports):
        return _nothing("stale_button")
    oldest = run.seq if run.oldest_seq is None else run.oldest_seq
    if not oldest <= int(seq) <= run.seq:
        return _nothing("stale_button")
    return _continue(run, _reply(event, port=port), "button")


def _hand_over(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision | None:
    """Let people take over if the contact asks for it. An option or a keyword of these very words goes before."""
    if not asks_for_people(event.text, contact.languages):
        return None
    words = words_of(normalized(event.text))
    if contact.listening is None:
        matches = triggers.match(event.text, kind="keyword", platform=event.platform)
        taken = any(match.keyword == " ".join(words) and _may_enter(match, contact) for match in matches)
    else:
        taken = any(words_of(normalized(title)) == words for title in contact.listening.options)
    return None if taken else Decision(Outcome.NOTHING, "hand_over", hands_over=True)


def _answer(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision | None:
    """Give the message to the listening question. An exact keyword goes before if the question does not accept it."""
    run = contact.listening
    if run is None:
        return None
    reply = _reply(event)
    if not run.accepts(reply):
        matches = triggers.match(event.text, kind="keyword", platform=event.platform)
        broken_in = _start_first([match for match in matches if _is_exact(match)], contact, "keyword")
        if broken_in is not None and broken_in.starts:
            return replace(broken_in, stops=(run.run_id,))
    return _continue(run, reply, "answer")


def _is_exact(match: TriggerMatch) -> bool:
    return match.mode == MODES[EXACT] and not match.has_typos


def _ad_or_story(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision | None:
    kinds = {"ad_click": event.ad is not None, f"story_{event.story}": bool(event.story)}
    for kind in (kind for kind, applies in kinds.items() if applies):
        subject = event.ad or "" if kind == "ad_click" else ""
        decision = _start_first(triggers.match("", kind=kind, platform=event.platform, subject=subject), contact, kind)
        if decision is not None:
            return decision
    return None


def _keyword(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision | None:
    return _start_first(triggers.match(event.text, kind="keyword", platform=event.platform), contact, "keyword")


def _first_message(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision | None:
    if not contact.is_first_message:
        return None
    matches = triggers.match("", kind="first_message", platform=event.platform)
    fitting = [match for match in matches if not (match.trigger.outside_hours_only and contact.is_open_now)]
    return _start_first(fitting, contact, "first_message")


def _any_message(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision | None:
    return _catch_all(triggers.match("", kind="any_message", platform=event.platform), contact)


def _comment_keyword(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision | None:
    found = triggers.match(event.text, kind="comment_keyword", platform=event.platform, subject=event.subject)
    return _start_first(found, contact, "keyword")


def _any_comment(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision | None:
    found = triggers.match("", kind="any_comment", platform=event.platform, subject=event.subject)
    return _catch_all(found, contact)


def _catch_all(matches: Sequence[TriggerMatch], contact: ContactFacts) -> Decision | None:
    if matches and contact.caught_lately:
        return _nothing("catch_all_lately")
    return _start_first(matches, contact, "catch_all")


def _start_first(matches: Sequence[TriggerMatch], contact: ContactFacts, reason: str) -> Decision | None:
    """Start the best match that the contact may enter. None without any match."""
    for match in matches:
        if _may_enter(match, contact):
            return Decision(Outcome.STARTED, reason, starts=(match,))
    return _nothing("not_again") if matches else None


def _may_enter(match: TriggerMatch, contact: ContactFacts) -> bool:
    return contact.may_enter(match.trigger.automation_id)


def _reply(event: EventFacts, *, port: str = "") -> Replied:
    return Replied(text=event.text, type=event.message_type, port=port, media=event.media)


def _continue(run: ListeningRun, reply: Replied, reason: str) -> Decision:
    return Decision(Outcome.CONTINUED, reason, continues=((run.run_id, reply),))


# After these reasons the next rule is asked; they are kept in case no rule decides.
PASSES_ON: Final = frozenset({"not_again"})
BEFORE_ALL: Final[tuple[Rule, ...]] = (_automatic, _opted_out, _blocked, _people_have_it)
MESSAGE_RULES: Final[tuple[Rule, ...]] = (
    *BEFORE_ALL,
    _button,
    _hand_over,
    _answer,
    _ad_or_story,
    _keyword,
    _first_message,
    _any_message,
)
COMMENT_RULES: Final[tuple[Rule, ...]] = (*BEFORE_ALL, _comment_keyword, _any_comment)


# Other facts -----------------------------------------------------------------------------------------


def _decide_fact(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision:
    """Continue the runs that wait for the fact, start the automations that fit, and end runs that a booking ends."""
    decision = _go_on_and_start(event, contact, triggers)
    ends = event.kind == "appointment_booked" and contact.end_on_booking
    return replace(decision, stops=tuple(contact.end_on_booking)) if ends else decision


def _go_on_and_start(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision:
    keys = (event.kind, f"{event.kind}:{event.subject}")
    happened = Happened(event.kind, event.values)
    waits = [run for run in contact.waiting if run.wait_kind is WaitKind.EVENT and run.key in keys]
    if event.kind.startswith("appointment_"):
        waits += [run for run in contact.waiting if _is_beside_appointment(run, event.subject)]
    started = _starts_of_fact(event, contact, triggers)
    if not waits:
        return started
    continues = tuple((run.run_id, happened) for run in waits)
    if started.starts:
        return replace(started, continues=continues)
    return Decision(Outcome.CONTINUED, "awaited", continues=continues)


def _is_beside_appointment(run: WaitingRun, appointment: str) -> bool:
    """Say whether a run waits for a moment before or after this appointment, which may move."""
    return run.wait_kind is WaitKind.TIME and run.key == f"appointment:{appointment}"


def _starts_of_fact(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision:
    if event.depth > MOST_DEPTH:
        return _nothing("too_deep")
    refused = next((found for rule in BEFORE_ALL if (found := rule(event, contact, triggers))), None)
    if refused is not None:
        return refused
    if event.kind in ANSWERED_ONCE:
        matches = triggers.match("", kind=event.kind, platform=event.platform, subject=event.subject)
    else:
        matches = triggers.all_of(event.kind, subject=event.subject)
    return _start_all(matches, event, contact)


def _start_all(matches: Sequence[TriggerMatch], event: EventFacts, contact: ContactFacts) -> Decision:
    if not matches:
        return _nothing("no_match")
    others = [match for match in matches if match.trigger.automation_id != event.cause]
    if not others:
        return _nothing("started_itself")
    allowed = tuple(match for match in others if _may_enter(match, contact))
    if not allowed:
        return _nothing("not_again")
    reason = event.kind if event.kind in REASONS else "fact"
    return Decision(Outcome.STARTED, reason, starts=allowed[:1] if event.kind in ANSWERED_ONCE else allowed)


def _start(event: EventFacts, contact: ContactFacts, triggers: CompiledTriggers) -> Decision:
    """Start the automation that a person or another automation names, even while people have the conversation."""
    if event.depth > MOST_DEPTH:
        return _nothing("too_deep")
    trigger = None if event.automation_id is None else triggers.of_automation(event.automation_id)
    if trigger is None:
        return _nothing("switched_off")
    if contact.opted_out or contact.blocked:
        return _nothing("opted_out" if contact.opted_out else "blocked")
    decision = _start_all([TriggerMatch(trigger)], event, contact)
    return replace(decision, reason="started") if decision.starts else decision


def _end_of_call(event: EventFacts, contact: ContactFacts) -> Decision:
    """Give the result of an outside call to the run that waits for it, if it waits for this very call."""
    for run in contact.waiting:
        if run.run_id == event.run_id and run.wait_kind is WaitKind.CALL and run.seq == event.seq and event.call:
            return Decision(Outcome.CONTINUED, "call_ended", continues=((run.run_id, event.call),))
    return _nothing("too_late")
