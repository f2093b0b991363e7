"""A copy keeps nothing that belongs to the customer or the agency, whatever was written where."""

import json

import pytest
from hypothesis import HealthCheck, given, settings

from tests.sizes import size
from tests.workspaces.automations.flows.secrets import PLATFORM, a_value, field_at, flows
from workspaces.automations.flows.checks import problems_of
from workspaces.automations.flows.copies import reasons_not_copyable, sanitized_copy
from workspaces.automations.flows.flow import Flow, fill_in, open_slots

pytestmark = pytest.mark.slow


@given(flows())
@settings(max_examples=size("secrets", "flows cleaned"), suppress_health_check=list(HealthCheck))
def test_no_secret_survives_cleaning_and_filled_slots_make_a_valid_flow(made: tuple[Flow, set[str]]) -> None:
    flow, secrets = made
    assert problems_of(flow, platform=PLATFORM) == []
    assert reasons_not_copyable(flow, platform=PLATFORM) == []
    kept, slots = sanitized_copy(flow)
    plain = [slot.plain() for slot in slots]
    written = json.dumps([kept, plain, [slot.sentence for slot in slots]], ensure_ascii=False)
    assert [secret for secret in secrets if secret in written] == []
    assert [problem for problem in problems_of(kept, platform=PLATFORM) if not problem.empty] == []
    assert open_slots(kept, plain) == plain
    whole = fill_in(kept, {(slot["node"], slot["path"]): a_value(field_at(kept, slot)) for slot in plain})
    assert problems_of(whole, platform=PLATFORM) == []
    assert open_slots(whole, plain) == []


@given(flows())
@settings(max_examples=size("secrets", "flows cleaned twice"), suppress_health_check=list(HealthCheck))
def test_cleaning_twice_is_cleaning_once(made: tuple[Flow, set[str]]) -> None:
    kept, slots = sanitized_copy(made[0])
    whole = fill_in(kept, {(slot.node, slot.path): a_value(field_at(kept, slot.plain())) for slot in slots})
    texts = {(slot.node, slot.path) for slot in slots if field_at(kept, slot.plain()).kind != "own"}
    again = {(slot.node, slot.path) for slot in sanitized_copy(whole)[1]}
    assert again == {(slot.node, slot.path) for slot in slots} - texts
