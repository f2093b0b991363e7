"""Changes of a flow: each keeps it whole or is refused with a sentence, and the order is that in which people read."""

import copy
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.factories.flows import Flow, a_flow, a_step
from workspaces.automations.flows import editing
from workspaces.automations.flows.checks import graph_problems
from workspaces.automations.flows.editing import EditRefused
from workspaces.automations.flows.outline import START, Place, in_reading_order, outline, ports_in_order

BUTTONS = a_flow(
    a_step("hello", "send_text", {"next": "ask"}, text="Hello!"),
    a_step(
        "ask",
        "send_buttons",
        {"button_1": "prices", "button_2": "visit", "other": "ask"},
        text="What?",
        buttons=[{"title": "Prices"}, {"title": "Visit"}, {"title": "Nothing"}],
    ),
    a_step("prices", "send_text", {"next": "end"}, text="10"),
    a_step("visit", "add_tag", {"next": "late"}, tag="visit"),
    a_step("late", "wait", {"next": "end"}, amount=1, unit="days"),
    a_step("end", "close_conversation"),
)


def ways(flow: Flow) -> dict[str, dict[str, str]]:
    return {step["id"]: step["next"] for step in flow["steps"]}


def order(flow: Flow) -> list[str]:
    return [step["id"] for step in flow["steps"]]


def refused(change: Callable[[], Flow]) -> EditRefused:
    with pytest.raises(EditRefused) as caught:
        change()
    return caught.value


def test_the_outline_shows_each_step_once_and_each_branch_below_its_step() -> None:
    assert [(row.depth, row.port, row.target, row.is_repeat) for row in outline(BUTTONS)] == [
        (0, "next", "hello", False),
        (0, "next", "ask", False),
        (1, "button_1", "prices", False),
        (1, "next", "end", False),
        (1, "button_2", "visit", False),
        (1, "next", "late", False),
        (1, "next", "end", True),
        (1, "button_3", "", False),
        (1, "other", "ask", True),
    ]


def test_after_a_question_the_flow_goes_on_and_silence_is_a_side_branch() -> None:
    flow = a_flow(
        a_step("ask", "ask_question", {"answered": "tag", "no_answer": "late"}, text="?", expects="text", save_as="x"),
        a_step("tag", "add_tag", {}, tag="t"),
        a_step("late", "send_text", {}, text="Hello?"),
    )
    assert [(row.depth, row.port, row.target) for row in outline(flow)] == [
        (0, "next", "ask"),
        (1, "no_answer", "late"),
        (1, "next", ""),
        (0, "answered", "tag"),
        (0, "next", ""),
    ]


def test_a_new_step_stands_between_a_place_and_what_stood_there() -> None:
    flow = editing.add_step(BUTTONS, place=("ask", "button_2"), step_id="new", type="add_tag", config={"tag": "t"})
    assert ways(flow)["ask"]["button_2"] == "new"
    assert ways(flow)["new"] == {"next": "visit"}
    assert order(flow) == ["hello", "ask", "prices", "end", "new", "visit", "late"]
    first = editing.add_step(BUTTONS, place=START, step_id="new", type="add_tag", config={"tag": "t"})
    assert (first["entry"], ways(first)["new"]) == ("new", {"next": "hello"})


def test_a_step_that_ends_the_flow_may_only_cut_off_what_may_go() -> None:
    def end(*, prune: bool) -> Flow:
        return editing.add_step(
            BUTTONS, place=("ask", "button_2"), step_id="new", type="close_conversation", config={}, prune=prune
        )

    assert refused(lambda: end(prune=False)).unreached == ["visit", "late"]
    assert order(end(prune=True)) == ["hello", "ask", "prices", "end", "new"]


def test_a_branch_stays_with_its_button() -> None:
    config: dict[str, object] = {"text": "What?", "buttons": [{"title": "New"}, {"title": "Visit"}]}
    lost = refused(lambda: editing.change_step(BUTTONS, node="ask", config=config, origins={"buttons": [None, 1]}))
    assert lost.unreached == ["prices"]
    kept = editing.change_step(BUTTONS, node="ask", config=config, origins={"buttons": [None, 1]}, prune=True)
    assert ways(kept)["ask"] == {"button_2": "visit", "other": "ask"}
    swapped: dict[str, object] = {"text": "What?", "buttons": [{"title": "Visit"}, {"title": "Prices"}]}
    flow = editing.change_step(BUTTONS, node="ask", config=swapped, origins={"buttons": [1, 0]})
    assert ways(flow)["ask"] == {"button_1": "visit", "button_2": "prices", "other": "ask"}


def test_a_moved_step_leaves_no_gap_and_takes_its_side_branches_along() -> None:
    flow = editing.move_step(BUTTONS, node="late", place=("prices", "next"))
    assert (ways(flow)["visit"], ways(flow)["prices"], ways(flow)["late"]) == (
        {"next": "end"},
        {"next": "late"},
        {"next": "end"},
    )
    flow = editing.move_step(BUTTONS, node="hello", place=("prices", "next"))
    assert (flow["entry"], ways(flow)["prices"], ways(flow)["hello"]) == ("ask", {"next": "hello"}, {"next": "end"})
    assert refused(lambda: editing.move_step(BUTTONS, node="ask", place=("visit", "next"))).unreached
    assert refused(lambda: editing.move_step(BUTTONS, node="ask", place=("ask", "other"))).sentence == editing.OWN_PLACE


def test_of_a_removed_step_one_branch_may_stay() -> None:
    assert order(editing.remove_step(BUTTONS, node="ask", keep="button_2")) == ["hello", "visit", "late", "end"]
    assert order(editing.remove_step(BUTTONS, node="ask")) == ["hello"]
    assert refused(lambda: editing.remove_step(a_flow(), node="greet")).sentence == editing.NEEDS_A_STEP
    assert refused(lambda: editing.remove_step(BUTTONS, node="hello")).sentence == editing.NEEDS_A_STEP


def test_a_circle_needs_a_step_that_waits() -> None:
    assert refused(lambda: editing.connect(BUTTONS, place=("prices", "next"), target="prices")).sentence == (
        editing.CIRCLE
    )
    flow = editing.connect(BUTTONS, place=("late", "next"), target="visit")
    assert refused(lambda: editing.remove_step(flow, node="late", keep="next")).sentence == editing.CIRCLE
    assert ways(flow)["late"] == {"next": "visit"}


def test_a_hundred_steps_are_enough() -> None:
    steps = [a_step(f"s{n}", "add_tag", {"next": f"s{n + 1}"} if n < 99 else {}, tag="t") for n in range(100)]
    sentence = refused(
        lambda: editing.add_step(a_flow(*steps), place=START, step_id="new", type="add_tag", config={})
    ).sentence
    assert sentence == editing.TOO_MANY_STEPS


CONFIGS: dict[str, Callable[[int], dict[str, Any]]] = {
    "send_text": lambda number: {"text": f"Text {number}"},
    "send_buttons": lambda number: {"text": "?", "buttons": [{"title": str(one)} for one in range(number % 4)]},
    "has_tag": lambda number: {"tag": "t"},
    "ask_question": lambda number: {"text": "?", "expects": "text", "save_as": "a"},
    "wait": lambda number: {"amount": 1, "unit": "days"},
    "close_conversation": lambda number: {},
}
NUMBER = st.integers(0, 30)
CHANGE = st.tuples(
    st.sampled_from(["add", "change", "move", "remove", "connect", "end"]),
    st.sampled_from(sorted(CONFIGS)),
    NUMBER,
    NUMBER,
    st.booleans(),
)


def apply(flow: Flow, change: tuple[str, str, int, int, bool], number: int) -> Flow:
    """Make one change at a place and a step that the numbers choose."""
    verb, kind, one, other, prune = change
    rows = outline(flow)
    place: Place = rows[one % len(rows)].place
    step = flow["steps"][other % len(flow["steps"])]
    node, ports = step["id"], ["", *step["next"]]
    if verb == "add":
        return editing.add_step(
            flow, place=place, step_id=f"n{number}", type=kind, config=CONFIGS[kind](other), prune=prune
        )
    if verb == "change":
        kept: list[int | None] = [2, None, 0, 1]
        config = CONFIGS.get(step["type"], lambda number: step["config"])(one)
        origins = None if one % 2 else {"buttons": kept[: len(config.get("buttons", []))]}
        return editing.change_step(flow, node=node, config=config, origins=origins, prune=prune)
    if verb == "move":
        return editing.move_step(flow, node=node, place=place)
    if verb == "remove":
        return editing.remove_step(flow, node=node, keep=ports[one % len(ports)])
    return editing.connect(flow, place=place, target=node if verb == "connect" else "", prune=prune)


SENTENCES = {
    editing.NEEDS_A_STEP,
    editing.NO_SUCH_PLACE,
    editing.UNREACHED,
    editing.CIRCLE,
    editing.TOO_MANY_STEPS,
    editing.OWN_PLACE,
}


def outcome(flow: Flow, change: tuple[str, str, int, int, bool], number: int) -> Flow | EditRefused:
    try:
        return apply(flow, change, number)
    except EditRefused as refusal:
        return refusal


@given(st.lists(CHANGE, max_size=30))
@example([("change", "wait", 5, 1, True)])
@example([("move", "wait", 2, 1, False), ("remove", "wait", 1, 1, False)])
def test_any_changes_keep_a_flow_whole_or_are_refused_with_a_sentence(changes: list[Any]) -> None:
    flow = copy.deepcopy(BUTTONS)
    for number, change in enumerate(changes):
        before = orjson.dumps(flow)
        after = outcome(flow, change, number)
        assert orjson.dumps(flow) == before, "the flow that was given is not changed"
        if isinstance(after, EditRefused):
            assert after.sentence in SENTENCES
            continue
        assert list(graph_problems(after)) == []
        assert after["steps"] == in_reading_order(after)
        shown = [row.step for row in outline(after) if row.step]
        assert shown == order(after), "each step is shown once"
        open_places = {(step["id"], port) for step in after["steps"] for port in ports_in_order(step)}
        assert {row.place for row in outline(after)} == {START, *open_places}
        flow = after
