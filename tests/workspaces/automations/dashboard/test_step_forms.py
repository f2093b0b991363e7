"""A step's form, opened and sent as it is, changes nothing: for every step of the library, filled in or to fill in."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.http import QueryDict
from django.utils.translation import override

from packs.library.loading import library
from tests import furnished
from workspaces.automations.dashboard.forms import SlotInputs
from workspaces.automations.dashboard.step_forms import ConfigForm
from workspaces.automations.flows.copies import sanitized_copy
from workspaces.automations.flows.fields import Field, is_empty
from workspaces.automations.flows.flow import Flow, step_type, trigger_type
from workspaces.automations.flows.registry import STEPS
from workspaces.subaccounts.models import Workspace

a = furnished.a_with_customer

pytestmark = pytest.mark.django_db
# The library of the product; the tests of this folder have none.
ITEMS = library().items


def library_flows() -> Iterator[Flow]:
    for item in ITEMS.values():
        yield item.flow
        yield sanitized_copy(item.flow)[0]


def configs(flow: Flow) -> Iterator[tuple[str, tuple[Field, ...], dict[str, Any]]]:
    yield trigger_type(flow).name, trigger_type(flow).fields, flow["trigger"].get("config", {})
    for step in flow["steps"]:
        yield step_type(step).name, step_type(step).fields, step.get("config", {})


def as_sent(form: ConfigForm) -> QueryDict:
    """What a browser sends of a form that nobody touched."""
    sent = QueryDict(mutable=True)
    for name, count in form.row_counts.items():
        sent[f"v-{name}-rows"] = str(count)
    for bound in form:
        value = bound.value()
        if value is not False:
            sent[bound.html_name] = "" if value is None else str(value)
    return sent


def filled(config: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in config.items() if not is_empty(value) and value is not False}


def test_a_form_that_nobody_touched_changes_nothing(customer: Workspace) -> None:
    inputs = SlotInputs(customer)
    seen = set()
    for flow in library_flows():
        for kind, declared, config in configs(flow):
            form = ConfigForm(declared=declared, config=config, inputs=inputs)
            bound = ConfigForm(as_sent(form), declared=declared, config=config, inputs=inputs)
            assert bound.is_valid(), (kind, config, bound.errors)
            assert bound.config == filled(config), kind
            assert all(origins == list(range(len(origins))) for origins in bound.origins.values()), kind
            seen.add(kind)
    assert len(seen) > 30


def test_an_amount_is_typed_as_in_the_readers_language(customer: Workspace) -> None:
    options: dict[str, Any] = {
        "declared": STEPS["payment_link"].fields,
        "config": {"text": "Please pay.", "pays": "amount", "amount": 12.5},
        "inputs": SlotInputs(customer),
    }
    with override("de"):
        sent = as_sent(ConfigForm(**options))
        assert sent["v-amount"] == "12,5"
        for typed, amount in (("12,5", 12.5), ("8.25", 8.25), ("1.250,00", 1250), ("1.250", None), ("8,255", None)):
            sent["v-amount"] = typed
            form = ConfigForm(sent, **options)
            assert form.is_valid() is (amount is not None)
            assert form.config.get("amount") == amount


def test_a_row_that_is_still_to_fill_in_keeps_its_place(customer: Workspace) -> None:
    inputs = SlotInputs(customer)
    for kind, config in (
        ("send_buttons", {"text": "?", "buttons": [{"title": None}, {"title": "B"}]}),
        ("send_template", {"purpose": "offer", "parameters": [None, "B"]}),
    ):
        declared = STEPS[kind].fields
        form = ConfigForm(declared=declared, config=config, inputs=inputs)
        bound = ConfigForm(as_sent(form), declared=declared, config=config, inputs=inputs)
        assert bound.is_valid()
        assert list(bound.origins.values()) == [[0, 1]]
