"""How limits add up."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from agency import limits
from tests.factories import addon_limits, plan_limits

NUMBERS = some.none() | some.integers(min_value=0, max_value=limits.LARGEST)
LIMITS = some.fixed_dictionaries(dict.fromkeys(limits.NAMES, NUMBERS)).map(limits.build)


def test_numbers_are_added() -> None:
    both = limits.total([plan_limits(contacts=1000, channels__sms=1), addon_limits(contacts=500, channels__sms=2)])
    assert limits.value(both, "contacts") == 1500
    assert limits.value(both, "channels.sms") == 3


def test_no_limit_and_a_number_is_no_limit_either_way_round() -> None:
    assert limits.value(limits.total([plan_limits(), addon_limits(contacts=5)]), "contacts") is None
    assert limits.value(limits.total([plan_limits(contacts=5), addon_limits(contacts=None)]), "contacts") is None


def test_an_addon_that_says_nothing_adds_nothing() -> None:
    plan = plan_limits(contacts=7, channels__gbp=0)
    assert limits.total([plan, limits.nothing()]) == plan


def test_without_a_plan_nothing_is_limited() -> None:
    assert all(limits.value(limits.unlimited(), name) is None for name in limits.NAMES)


@given(some.lists(LIMITS, min_size=1, max_size=5))
def test_the_order_of_addons_does_not_matter(parts: list[dict[str, Any]]) -> None:
    assert limits.total(parts) == limits.total(reversed(parts))


@given(some.lists(LIMITS, min_size=1, max_size=5))
def test_a_sum_always_fits_its_column_and_is_no_less_than_any_part(parts: list[dict[str, Any]]) -> None:
    total = limits.total(parts)
    for name in limits.NAMES:
        value, values = limits.value(total, name), [limits.value(part, name) for part in parts]
        if None in values:
            assert value is None
        else:
            assert value is not None
            assert max(v for v in values if v is not None) <= value <= limits.LARGEST


@given(LIMITS)
def test_the_documented_order_of_names_changes_no_value(parts: dict[str, Any]) -> None:
    assert limits.in_order(parts) == parts
