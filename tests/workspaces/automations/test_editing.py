"""The services of the editor: what was seen is what is changed, and every change can be taken back."""

from typing import Any

import orjson
import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import ActivityEntry
from tests.factories import WorkspaceFactory
from tests.factories.flows import a_flow, a_step
from tests.packs.client import an_automation
from tests.tenants import Tenant
from workspaces.automations.flows.outline import START
from workspaces.automations.models import Automation
from workspaces.automations.services import fill_slots, save_draft
from workspaces.automations.services.drafts import MOST_REVISIONS
from workspaces.automations.services.editing import (
    add_step,
    change_step,
    copy_automation,
    draft_history,
    draft_mark,
    redo,
    remove_step,
    undo,
)
from workspaces.automations.services.errors import DraftChanged, NothingToRedo, NothingToUndo, ValuesRefused

pytestmark = pytest.mark.django_db


@pytest.fixture
def automation(a: Tenant) -> Automation:
    return an_automation(WorkspaceFactory.create(agency=a.agency))


def stored(automation: Automation) -> bytes:
    automation.refresh_from_db()
    return orjson.dumps([automation.draft, automation.slots, automation.trigger])


def a_tag(automation: Automation, tag: str = "t", **seen: str) -> Automation:
    return add_step(
        automation=automation,
        seen=seen.get("seen") or draft_mark(automation),
        place=START,
        type="add_tag",
        config={"tag": tag},
        now=now(),
        by=SYSTEM,
    )


def step_back(automation: Automation) -> Automation:
    return undo(automation=automation, seen=draft_mark(automation), now=now(), by=SYSTEM)


def step_forward(automation: Automation) -> Automation:
    return redo(automation=automation, seen=draft_mark(automation), now=now(), by=SYSTEM)


def test_undo_restores_a_draft_byte_for_byte_and_redo_the_change(automation: Automation) -> None:
    states = [stored(automation)]
    for tag in "abc":
        automation = a_tag(automation, tag)
        states.append(stored(automation))
    for state in reversed(states[:-1]):
        automation = step_back(automation)
        assert stored(automation) == state
    with pytest.raises(NothingToUndo):
        step_back(automation)
    for state in states[1:]:
        automation = step_forward(automation)
        assert stored(automation) == state
    with pytest.raises(NothingToRedo):
        step_forward(automation)


def test_a_change_after_an_undo_ends_what_could_be_made_again(automation: Automation) -> None:
    automation = step_back(a_tag(a_tag(automation, "a"), "b"))
    assert draft_history(automation).redo == "automation.step_added"
    automation = a_tag(automation, "c")
    assert (draft_history(automation).undo, draft_history(automation).redo) == ("automation.step_added", None)
    assert [step["config"]["tag"] for step in step_back(automation).draft["steps"][:-1]] == ["a"]


def test_a_draft_saved_elsewhere_can_be_taken_back_too(automation: Automation) -> None:
    before = stored(automation)
    save_draft(automation=automation, flow=a_flow(a_step("x", "add_tag", tag="t")), now=now(), by=SYSTEM)
    automation.refresh_from_db()
    assert stored(step_back(automation)) == before


def test_only_the_newest_changes_are_kept(automation: Automation) -> None:
    for number in range(MOST_REVISIONS + 3):
        automation = change_step(
            automation=automation,
            seen=draft_mark(automation),
            step="greet",
            config={"text": f"Text {number}"},
            now=now(),
            by=SYSTEM,
        )
    assert automation.revisions.count() == MOST_REVISIONS
    assert draft_history(automation).undo == "automation.step_changed"


def test_nobody_changes_a_draft_that_they_did_not_see(automation: Automation) -> None:
    seen = draft_mark(automation)
    automation = a_tag(automation)
    state = stored(automation)
    with pytest.raises(DraftChanged):
        a_tag(automation, "other", seen=seen)
    with pytest.raises(DraftChanged):
        undo(automation=automation, seen=seen, now=now(), by=SYSTEM)
    assert stored(automation) == state


def test_each_change_is_one_entry_of_the_activity(automation: Automation) -> None:
    begun = ActivityEntry.objects.count()
    automation = step_forward(step_back(a_tag(automation)))
    remove_step(
        automation=automation,
        seen=draft_mark(automation),
        step=automation.draft["entry"],
        keep="next",
        now=now(),
        by=SYSTEM,
    )
    actions = ActivityEntry.objects.order_by("pk").values_list("action", flat=True)[begun:]
    assert list(actions) == [
        "automation.step_added",
        "automation.undone",
        "automation.redone",
        "automation.step_removed",
    ]


@pytest.mark.parametrize("config", [{"tag": "x" * 61}, {"other": "x"}, {"tag": 7}, [], {"tag": "{{contact.shoe}}"}])
def test_values_that_do_not_fit_are_refused(automation: Automation, config: Any) -> None:
    with pytest.raises(ValuesRefused):
        add_step(
            automation=automation,
            seen=draft_mark(automation),
            place=START,
            type="add_tag",
            config=config,
            now=now(),
            by=SYSTEM,
        )


def test_slots_follow_their_steps_and_do_not_publish_other_changes(automation: Automation) -> None:
    slot = {"node": "greet", "path": "text", "label": "Text", "step": "Step 1: Send a text"}
    Automation.objects.filter(pk=automation.pk).update(slots=[slot])
    automation.refresh_from_db()
    filled = fill_slots(automation=automation, values={("greet", "text"): "Hello!"}, now=now(), by=SYSTEM)
    assert filled.published_version == 2
    automation = a_tag(filled)
    assert automation.slots == [slot | {"step": "Step 2: Send a text"}]
    filled = fill_slots(automation=automation, values={("greet", "text"): "Good day!"}, now=now(), by=SYSTEM)
    assert filled.published_version == 2
    copied = copy_automation(automation=filled, name="Copy", platform="sms", now=now(), by=SYSTEM)
    assert (copied.draft, copied.slots, copied.platform) == (filled.draft, filled.slots, "sms")
    assert (copied.published, copied.enabled, copied.from_pack) == (None, False, None)
