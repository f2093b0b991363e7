"""A pack's new version meets what a workspace changed itself."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories.flows import Flow, a_flow, a_step
from tests.workspaces.automations.flows.test_editing import BUTTONS, CHANGE, outcome
from workspaces.automations.flows.checks import graph_problems, problems_of, structure_problems
from workspaces.automations.flows.editing import EditRefused
from workspaces.automations.flows.flow import TRIGGER_NODE
from workspaces.automations.flows.merging import matching_step_ids, merge_new_version, with_step_ids
from workspaces.automations.flows.outline import in_reading_order

BASE = a_flow(
    a_step("hello", "send_text", {"next": "ask"}, text="Hello!"),
    a_step("ask", "ask_question", {"answered": "link"}, text="When?", expects="text", save_as="day"),
    a_step("link", "send_link_button", text="Our page", title="Open", url=""),
)
SLOTS = [{"node": "link", "path": "url", "label": "Web address", "step": "Step 3"}]


def changed(flow: Flow, node: str, **values: Any) -> Flow:
    flow = copy.deepcopy(flow)
    part = flow["trigger"] if node == TRIGGER_NODE else next(step for step in flow["steps"] if step["id"] == node)
    part["config"].update(values)
    return flow


def config(flow: Flow, node: str) -> dict[str, Any]:
    return next(dict(step["config"]) for step in flow["steps"] if step["id"] == node)


def with_goodbye(flow: Flow, text: str = "Bye!", id: str = "bye") -> Flow:
    flow = copy.deepcopy(flow)
    next(step for step in flow["steps"] if step["id"] == "link")["next"] = {"next": id}
    flow["steps"].append(a_step(id, "send_text", text=text))
    return flow


def test_what_one_side_changed_is_as_that_side_has_it() -> None:
    own = changed(changed(BASE, "hello", text="Hi, it is Anna!"), TRIGGER_NODE, keywords=["hallo"])
    new = changed(BASE, "ask", text="On which day?")
    merged = merge_new_version(BASE, own, new, SLOTS)
    assert config(merged.flow, "hello")["text"] == "Hi, it is Anna!"
    assert config(merged.flow, "ask")["text"] == "On which day?"
    assert merged.flow["trigger"]["config"] == {"keywords": ["hallo"]}
    assert (merged.conflicts, merged.loses_steps) == ([], False)


def test_what_both_changed_is_the_new_versions_and_named() -> None:
    merged = merge_new_version(BASE, changed(BASE, "hello", text="Hi!"), changed(BASE, "hello", text="Welcome!"), SLOTS)
    assert config(merged.flow, "hello")["text"] == "Welcome!"
    assert merged.conflicts == ["hello"]


def test_both_changed_it_in_the_same_way() -> None:
    same = changed(BASE, "hello", text="Welcome!")
    assert merge_new_version(BASE, same, same, SLOTS).conflicts == []


def test_a_filled_slot_stays_even_where_its_step_is_another() -> None:
    own = changed(BASE, "link", url="https://anna.example/")
    assert (
        config(merge_new_version(BASE, own, with_goodbye(BASE), SLOTS).flow, "link")["url"] == "https://anna.example/"
    )
    unknown = merge_new_version(a_flow(), own, changed(BASE, "link", title="Look"), SLOTS)
    assert config(unknown.flow, "link") == {"text": "Our page", "title": "Look", "url": "https://anna.example/"}


def test_steps_of_one_side_stay() -> None:
    own = merge_new_version(BASE, with_goodbye(BASE), changed(BASE, "hello", text="Welcome!"), SLOTS)
    assert [step["id"] for step in own.flow["steps"]] == ["hello", "ask", "link", "bye"]
    assert config(own.flow, "hello")["text"] == "Welcome!"
    assert not own.loses_steps
    new = merge_new_version(BASE, changed(BASE, "hello", text="Hi!"), with_goodbye(BASE), SLOTS)
    assert [step["id"] for step in new.flow["steps"]] == ["hello", "ask", "link", "bye"]
    assert config(new.flow, "hello")["text"] == "Hi!"
    assert not new.loses_steps


def test_where_both_changed_the_order_the_new_versions_steps_are_taken_and_that_is_said() -> None:
    merged = merge_new_version(BASE, with_goodbye(BASE, id="mine"), with_goodbye(BASE, "See you!"), SLOTS)
    assert [step["id"] for step in merged.flow["steps"]] == ["hello", "ask", "link", "bye"]
    assert merged.loses_steps


@pytest.mark.parametrize("is_own_order", [False, True])
def test_the_outputs_of_a_step_fit_its_values(is_own_order: bool) -> None:
    choose = a_step("ask", "send_buttons", {"1": "link"}, text="Which?", buttons=[{"title": "A"}])
    base = a_flow(a_step("hello", "send_text", {"next": "ask"}, text="Hi"), choose, copy.deepcopy(BASE["steps"][2]))
    more = changed(base, "ask", buttons=[{"title": "A"}, {"title": "B"}])
    other = with_goodbye(base)
    merged = merge_new_version(base, *((other, more) if is_own_order else (more, other)), SLOTS)
    assert not list(structure_problems(merged.flow))
    assert {problem.sentence for problem in problems_of(merged.flow, platform="whatsapp")} == {
        problem.sentence for problem in problems_of(other, platform="whatsapp")
    }


def edited(changes: list[Any], first: int) -> Flow:
    flow = copy.deepcopy(BUTTONS)
    for number, change in enumerate(changes, first):
        after = outcome(flow, change, number)
        flow = flow if isinstance(after, EditRefused) else after
    return flow


@given(st.lists(CHANGE, max_size=6), st.lists(CHANGE, max_size=6))
def test_any_two_changes_merge_into_a_whole_flow(own_changes: list[Any], new_changes: list[Any]) -> None:
    own, new = edited(own_changes, 0), edited(new_changes, 100)
    before = copy.deepcopy([own, new])
    merged = merge_new_version(BUTTONS, own, new, [])
    assert [own, new] == before, "the flows that were given are not changed"
    assert list(graph_problems(merged.flow)) == []
    assert merge_new_version(BUTTONS, BUTTONS, new, []).flow == new
    alone = merge_new_version(BUTTONS, own, BUTTONS, []).flow
    assert {**alone, "steps": in_reading_order(alone)} == {**own, "steps": in_reading_order(own)}


def test_a_new_copy_keeps_the_ids_of_the_steps_that_it_still_has() -> None:
    old = with_step_ids(BASE, {"hello": "step_1", "ask": "step_2", "link": "step_3"})
    new = a_flow(
        a_step("step_1", "send_text", {"next": "step_2"}, text="Hello!"),
        a_step("step_2", "send_text", {"next": "step_3"}, text="We are new."),
        a_step("step_3", "ask_question", {"answered": "step_4"}, text="Which day?", expects="text", save_as="day"),
        a_step("step_4", "send_link_button", text="Our page", title="Open", url=""),
    )
    ids = matching_step_ids(old, new)
    assert ids == {"step_1": "step_1", "step_2": "step_4", "step_3": "step_2", "step_4": "step_3"}
    renamed = with_step_ids(new, ids)
    assert [(step["id"], step["next"]) for step in renamed["steps"]] == [
        ("step_1", {"next": "step_4"}),
        ("step_4", {"next": "step_2"}),
        ("step_2", {"answered": "step_3"}),
        ("step_3", {}),
    ]


@given(st.lists(st.sampled_from(["send_text", "wait", "add_note"]), min_size=1, max_size=8), st.randoms())
def test_ids_of_a_new_copy_are_never_given_twice(types: list[str], chance: Any) -> None:
    old = a_flow(*(a_step(f"step_{number}", kind, text=kind) for number, kind in enumerate(types, 1)))
    kinds = [*chance.sample(types, len(types)), "send_text"]
    new = a_flow(*(a_step(f"step_{number}", kind, text=str(number)) for number, kind in enumerate(kinds, 1)))
    ids = matching_step_ids(old, new)
    assert len(set(ids.values())) == len(kinds)
    by_id = {step["id"]: step["type"] for step in old["steps"]}
    for step in new["steps"]:
        assert by_id.get(ids[step["id"]], step["type"]) == step["type"]
