"""What an event does: which rule comes before which, and why nothing happens."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workspaces.automations.execution.decision_facts import ContactFacts, EventFacts, ListeningRun, WaitingRun
from workspaces.automations.execution.decisions import MOST_DEPTH, REASONS, Decision, Outcome, decide
from workspaces.automations.execution.keywords import CompiledTriggers, TriggerSource, compile_triggers
from workspaces.automations.execution.languages.phrases import asks_for_people
from workspaces.automations.execution.types import CallEnded, Happened, Replied, WaitKind

TOKEN = "0123456789abcdef" * 2
NOTHING, STARTED, CONTINUED = Outcome.NOTHING, Outcome.STARTED, Outcome.CONTINUED


def source(number: int, kind: str, platform: str = "whatsapp", **config: Any) -> TriggerSource:
    return TriggerSource(number, number * 10, platform, kind, config, number)


TRIGGERS = compile_triggers(
    [
        source(1, "keyword", keywords=["price"], match="contains"),
        source(2, "keyword", keywords=["menu"], match="exact"),
        source(3, "first_message"),
        source(4, "first_message", outside_hours_only=True),
        source(5, "any_message"),
        source(6, "ad_click"),
        source(7, "story_reply"),
        source(8, "comment_keyword", keywords=["price"], match="contains"),
        source(9, "any_comment"),
        source(10, "tag_added", tag="vip"),
        source(11, "tag_added", platform="instagram", tag="VIP"),
        source(12, "story_mention"),
        source(13, "birthday"),
        source(14, "story_mention"),
        source(15, "keyword", keywords=["human"], match="contains"),
    ]
)
LISTENING = ListeningRun(run_id=70, token=TOKEN, seq=4, ports=("button_1", "button_2"))
PRESSED = f"run:{TOKEN}:4:button_1"


def message(text: str = "hello", **others: Any) -> EventFacts:
    return EventFacts("message", platform="whatsapp", text=text, **others)


def outcome(
    event: EventFacts, contact: ContactFacts | None = None, triggers: CompiledTriggers = TRIGGERS
) -> tuple[Outcome, str, list[int]]:
    decision = decide(event, contact or ContactFacts(), triggers)
    return decision.outcome, decision.reason, _acts_on(decision)


def _acts_on(decision: Decision) -> list[int]:
    return [*(match.trigger.automation_id for match in decision.starts), *(run for run, _ in decision.continues)]


class Applying(NamedTuple):
    """What makes a rule apply to a message, and what the rule then decides."""

    event: dict[str, Any]
    contact: dict[str, Any]
    decides: tuple[Outcome, str, list[int]]


# Each rule in the order in which they are asked. A test makes each pair of rules apply at once.
IN_ORDER = {
    "automatic": Applying({"is_automatic": True}, {}, (NOTHING, "automatic", [])),
    "opted out": Applying({"is_opt_out": True}, {}, (NOTHING, "opted_out", [])),
    "blocked": Applying({}, {"blocked": True}, (NOTHING, "blocked", [])),
    "people have it": Applying({}, {"paused": True}, (NOTHING, "people_have_it", [])),
    "button": Applying({"payload": PRESSED}, {"listening": LISTENING}, (CONTINUED, "button", [70])),
    "hand over": Applying({"text": "Talk to a human, please"}, {}, (NOTHING, "hand_over", [])),
    "answer": Applying({}, {"listening": LISTENING}, (CONTINUED, "answer", [70])),
    "ad": Applying({"ad": "a1"}, {}, (STARTED, "ad_click", [6])),
    "story": Applying({"story": "reply"}, {}, (STARTED, "story_reply", [7])),
    "keyword": Applying({"text": "the price?"}, {}, (STARTED, "keyword", [1])),
    "first message": Applying({}, {"is_first_message": True}, (STARTED, "first_message", [3])),
    "catch-all": Applying({}, {}, (STARTED, "catch_all", [5])),
}


@pytest.mark.parametrize(("first", "later"), list(itertools.combinations(IN_ORDER, 2)))
def test_of_two_rules_that_apply_the_first_decides(first: str, later: str) -> None:
    winner, loser = IN_ORDER[first], IN_ORDER[later]
    assert outcome(message(**winner.event), ContactFacts(**winner.contact)) == winner.decides
    both = message(**{**loser.event, **winner.event})
    assert outcome(both, ContactFacts(**{**loser.contact, **winner.contact})) == winner.decides


def test_a_contact_who_has_opted_out_or_is_in_peoples_hands_starts_nothing_by_any_event() -> None:
    for facts, reason in (
        (ContactFacts(opted_out=True), "opted_out"),
        (ContactFacts(blocked=True), "blocked"),
        (ContactFacts(paused=True), "people_have_it"),
    ):
        contact = replace(facts, is_first_message=True, listening=LISTENING)
        for event in (
            message("price", payload=PRESSED, ad="a1"),
            EventFacts("comment", platform="whatsapp", text="price"),
            EventFacts("tag_added", subject="vip"),
            EventFacts("story_mention", platform="whatsapp"),
        ):
            assert outcome(event, contact) == (NOTHING, reason, [])
    # A person may start an automation while people have the conversation, but not against an opt-out.
    start = EventFacts("start", automation_id=1)
    assert outcome(start, ContactFacts(paused=True)) == (STARTED, "started", [1])
    assert outcome(start, ContactFacts(opted_out=True)) == (NOTHING, "opted_out", [])
    assert outcome(start, ContactFacts(blocked=True)) == (NOTHING, "blocked", [])


@pytest.mark.parametrize(
    "payload",
    [f"run:{TOKEN}:3:button_1", f"run:{TOKEN}:5:button_1", f"run:{TOKEN}:4:button_3", f"run:{TOKEN[::-1]}:4:button_1"],
)
def test_the_button_of_another_step_or_run_is_stale(payload: str) -> None:
    assert outcome(message("price", payload=payload), ContactFacts(listening=LISTENING)) == (
        NOTHING,
        "stale_button",
        [],
    )
    assert outcome(message("price", payload=payload)) == (NOTHING, "stale_button", [])


def test_buttons_of_each_asking_of_a_question_count() -> None:
    contact = ContactFacts(listening=replace(LISTENING, oldest_seq=3))
    for seq, reason in ((2, "stale_button"), (3, "button"), (4, "button"), (5, "stale_button")):
        assert outcome(message(payload=f"run:{TOKEN}:{seq}:button_2"), contact)[1] == reason


@pytest.mark.parametrize(
    "payload",
    [
        "PRICE", "run:", f"run:{TOKEN}:4", f"run:{TOKEN.upper()}:4:button_1", f"run:{TOKEN}:04:button_1",
        f"run:{TOKEN}:-4:button_1", f"run:{TOKEN}:\u0664:button_1", f"run:{TOKEN}:4:button_1\n",
        f" run:{TOKEN}:4:button_1",
        f"run:{TOKEN}:4:Button 1", f"run:{TOKEN}:{'9' * 5000}:button_1",
    ],
)  # fmt: skip
def test_another_payload_is_no_button_of_ours(payload: str) -> None:
    assert outcome(message("the price?", payload=payload)) == (STARTED, "keyword", [1])


def test_the_pressed_button_and_the_answer_reach_the_run() -> None:
    contact = ContactFacts(listening=LISTENING)
    pressed = decide(message("Yes", payload=PRESSED, message_type="interactive"), contact, TRIGGERS)
    assert pressed.continues == ((70, Replied("Yes", type="interactive", port="button_1")),)
    sent = decide(message("look", message_type="image", media="m1"), contact, TRIGGERS)
    assert sent.continues == ((70, Replied("look", type="image", media="m1")),)


def test_an_exact_keyword_breaks_into_a_question_that_does_not_accept_it() -> None:
    def listening(accepts: Callable[[Replied], bool]) -> ContactFacts:
        return ContactFacts(listening=replace(LISTENING, accepts=accepts))

    refuses = listening(lambda reply: False)
    broken_in = decide(message("Menu!"), refuses, TRIGGERS)
    assert (broken_in.reason, _acts_on(broken_in), broken_in.stops) == ("keyword", [2], (70,))
    assert outcome(message("menu"), listening(lambda reply: True)) == (CONTINUED, "answer", [70])
    # A keyword that is only contained would take answers away.
    assert outcome(message("the price"), refuses) == (CONTINUED, "answer", [70])
    # So is it if the contact may not enter that automation.
    assert outcome(message("menu"), replace(refuses, may_enter=lambda automation: False)) == (CONTINUED, "answer", [70])


def test_words_for_a_person_lead_out_of_a_question_unless_they_are_an_answer_or_a_keyword() -> None:
    decision = decide(message("agent"), ContactFacts(listening=LISTENING), TRIGGERS)
    assert (decision.outcome, decision.reason, decision.hands_over) == (NOTHING, "hand_over", True)
    option = ContactFacts(listening=replace(LISTENING, options=("Broker", "Agent")))
    assert outcome(message("agent"), option) == (CONTINUED, "answer", [70])
    own = compile_triggers([source(1, "keyword", keywords=["agent"], match="contains")])
    assert outcome(message("Agent"), triggers=own) == (STARTED, "keyword", [1])
    assert outcome(message("Agent"), ContactFacts(listening=LISTENING), own) == (NOTHING, "hand_over", [])


@pytest.mark.parametrize(
    ("language", "yes", "no"),
    [
        ("en", ["agent", "HUMAN!", "can I talk to someone please", "I'd like to speak with a real person"],
         ["a person", "I am a travel agent", "table for one person", "don't connect me with an agent", "talk"]),
        ("de", ["Mensch", "Mitarbeiter", "Ich möchte bitte mit einem Menschen sprechen", "agent"],
         ["eine Person", "Ich spreche mit keinem Menschen", "nicht mit jemandem sprechen"]),
        ("es", ["persona", "quiero hablar con una persona", "asesor", "hablar con alguien por favor"],
         ["una persona", "mesa para una persona", "no quiero hablar con una persona"]),
        ("fr", ["humain", "je veux parler à quelqu'un", "parler à un conseiller svp"], ["une personne", "personne"]),
        ("pt-BR", ["atendente", "quero falar com um atendente", "falar com uma pessoa"], ["uma pessoa", "falar"]),
    ],
)  # fmt: skip
def test_people_are_asked_for_in_each_language(language: str, yes: list[str], no: list[str]) -> None:
    assert {text: asks_for_people(text, [language]) for text in yes} == dict.fromkeys(yes, True)
    assert {text: asks_for_people(text, [language]) for text in no} == dict.fromkeys(no, False)


def test_the_first_message_outside_hours_has_its_own_automation() -> None:
    assert outcome(message(), ContactFacts(is_first_message=True, is_open_now=False))[2] == [4]
    assert outcome(message(), ContactFacts(is_first_message=True, is_open_now=True))[2] == [3]
    only = compile_triggers([source(4, "first_message", outside_hours_only=True)])
    assert outcome(message(), ContactFacts(is_first_message=True, is_open_now=True), only) == (NOTHING, "no_match", [])


def test_a_catch_all_answers_once_a_day() -> None:
    lately = ContactFacts(caught_lately=True)
    assert outcome(message(), lately) == (NOTHING, "catch_all_lately", [])
    assert outcome(message("price"), lately) == (STARTED, "keyword", [1])
    assert outcome(message(), lately, compile_triggers([])) == (NOTHING, "no_match", [])
    comment = EventFacts("comment", platform="whatsapp", text="nice")
    assert outcome(comment, lately) == (NOTHING, "catch_all_lately", [])
    assert outcome(comment) == (STARTED, "catch_all", [9])
    assert outcome(replace(comment, text="price")) == (STARTED, "keyword", [8])


def test_an_automation_that_the_contact_may_not_enter_now_is_passed_over() -> None:
    def allowed(*automations: int) -> ContactFacts:
        return ContactFacts(may_enter=lambda automation: automation in automations)

    assert outcome(message("price"), allowed(5)) == (STARTED, "catch_all", [5])
    assert outcome(message("price"), allowed()) == (NOTHING, "not_again", [])
    assert outcome(EventFacts("tag_added", subject="vip"), allowed(11)) == (STARTED, "fact", [11])
    assert outcome(EventFacts("tag_added", subject="vip"), allowed()) == (NOTHING, "not_again", [])


def test_a_fact_starts_all_automations_and_an_answer_only_one() -> None:
    assert outcome(EventFacts("tag_added", subject="Vip")) == (STARTED, "fact", [10, 11])
    assert outcome(EventFacts("birthday")) == (STARTED, "fact", [13])
    assert outcome(EventFacts("story_mention", platform="whatsapp")) == (STARTED, "story_mention", [12])
    assert outcome(EventFacts("story_mention", platform="facebook")) == (NOTHING, "no_match", [])
    ad = EventFacts("ad_click", platform="whatsapp", subject="a1")
    for_this_ad = [source(20, "ad_click"), source(21, "ad_click", ad="a1"), source(22, "ad_click", platform="facebook")]
    assert outcome(ad, triggers=compile_triggers(for_this_ad)) == (STARTED, "ad_click", [21])
    assert outcome(EventFacts("an unknown kind")) == (NOTHING, "no_match", [])


def test_no_automation_starts_itself_or_too_many_in_a_row() -> None:
    tag = EventFacts("tag_added", subject="vip", cause=10)
    assert outcome(tag) == (STARTED, "fact", [11])
    alone = compile_triggers([source(10, "tag_added", tag="vip")])
    assert outcome(tag, triggers=alone) == (NOTHING, "started_itself", [])
    start = EventFacts("start", automation_id=10, cause=10)
    assert outcome(start) == (NOTHING, "started_itself", [])
    assert outcome(replace(start, cause=3, depth=MOST_DEPTH)) == (STARTED, "started", [10])
    for event in (replace(start, cause=3), replace(tag, cause=3)):
        assert outcome(replace(event, depth=MOST_DEPTH + 1)) == (NOTHING, "too_deep", [])
    assert outcome(EventFacts("start", automation_id=99)) == (NOTHING, "switched_off", [])
    assert outcome(EventFacts("start")) == (NOTHING, "switched_off", [])


def test_runs_that_wait_for_a_fact_go_on_beside_those_that_start() -> None:
    waits = (
        WaitingRun(80, WaitKind.EVENT, key="tag_added:vip"),
        WaitingRun(81, WaitKind.EVENT, key="tag_added:other"),
        WaitingRun(82, WaitKind.EVENT, key="tag_added"),
        WaitingRun(83, WaitKind.TIME, key="tag_added"),
    )
    contact = ContactFacts(waiting=waits)
    tag = EventFacts("tag_added", subject="vip", values={"tag": {"name": "vip"}})
    assert outcome(tag, contact) == (STARTED, "fact", [10, 11, 80, 82])
    decision = decide(tag, contact, compile_triggers([]))
    assert (decision.outcome, decision.reason) == (CONTINUED, "awaited")
    assert decision.continues[0] == (80, Happened("tag_added", {"tag": {"name": "vip"}}))


def test_the_result_of_a_call_reaches_only_the_wait_for_this_call() -> None:
    result = CallEnded(ok=True, result={"status": 200})
    event = EventFacts("call_ended", run_id=80, seq=3, call=result)
    waiting = WaitingRun(80, WaitKind.CALL, seq=3)
    decision = decide(event, ContactFacts(waiting=(waiting,), paused=True), TRIGGERS)
    assert (decision.reason, decision.continues) == ("call_ended", ((80, result),))
    late: list[tuple[WaitingRun, ...]] = [
        (), (replace(waiting, seq=4),), (replace(waiting, run_id=81),), (replace(waiting, wait_kind=WaitKind.TIME),)
    ]  # fmt: skip
    for runs in late:
        assert outcome(event, ContactFacts(waiting=runs)) == (NOTHING, "too_late", [])


def test_automations_that_stop_when_the_contact_writes_end_with_any_message_of_a_person() -> None:
    waiting = (
        WaitingRun(80, WaitKind.TIME, stops_on_reply=True),
        WaitingRun(81, WaitKind.TIME),
        WaitingRun(82, WaitKind.CALL, stops_on_reply=True),
    )
    for contact in (ContactFacts(waiting=waiting), ContactFacts(waiting=waiting, paused=True)):
        assert decide(message(), contact, TRIGGERS).stops == (80,)
    assert decide(message(is_automatic=True), ContactFacts(waiting=waiting), TRIGGERS).stops == ()
    assert decide(EventFacts("birthday"), ContactFacts(waiting=waiting), TRIGGERS).stops == ()


flags = st.booleans()
contacts = st.builds(
    ContactFacts,
    paused=flags,
    opted_out=flags,
    blocked=flags,
    is_first_message=flags,
    is_open_now=flags,
    caught_lately=flags,
    listening=st.sampled_from((None, LISTENING, replace(LISTENING, accepts=lambda reply: False))),
    waiting=st.sampled_from(((), (WaitingRun(80, WaitKind.TIME, stops_on_reply=True), WaitingRun(81, WaitKind.CALL)))),
    may_enter=st.sampled_from((lambda automation: True, lambda automation: automation % 2 == 0)),
)
events = st.builds(
    EventFacts,
    kind=st.sampled_from(
        ("message", "comment", "tag_added", "story_mention", "ad_click", "start", "call_ended", "birthday", "")
    ),
    platform=st.sampled_from(("whatsapp", "instagram", "")),
    text=st.one_of(st.text(max_size=80), st.sampled_from(("price", "menu", "agent", "stop"))),
    payload=st.one_of(st.just(""), st.just(PRESSED), st.text(max_size=60)),
    subject=st.sampled_from(("", "vip", "p1")),
    ad=st.sampled_from((None, "", "a1")),
    story=st.sampled_from(("", "reply", "mention", "odd")),
    is_automatic=flags,
    is_opt_out=flags,
    depth=st.integers(0, 9),
    cause=st.sampled_from((None, 10)),
    automation_id=st.sampled_from((None, 1, 10, 99)),
    run_id=st.sampled_from((None, 81)),
)


@given(events, contacts)
def test_any_event_has_one_reason_that_people_can_read_and_a_message_one_effect(
    event: EventFacts, contact: ContactFacts
) -> None:
    decision = decide(event, contact, TRIGGERS)
    assert decision.reason in REASONS
    assert len(REASONS[decision.reason]) > 10
    acts = len(decision.starts) + len(decision.continues)
    assert (decision.outcome is NOTHING) == (acts == 0)
    if event.kind in ("message", "comment", "story_mention", "ad_click", "start"):
        assert acts <= 1
    if contact.opted_out or contact.blocked:
        assert not decision.starts
    assert decide(event, contact, TRIGGERS) == decision
