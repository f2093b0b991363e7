"""The limits that the product runs with. That they end whatever hangs and drips is shown with shorter ones."""

from collections.abc import Callable
from inspect import signature

import pytest

from config.http.client import HTTPClient
from config.http.resolver import Resolver
from config.http.transfer import Limits

pytestmark = pytest.mark.slow


def test_an_attempt_takes_ten_seconds_at_most_five_to_connect_and_two_to_look_up(
    make_sender: Callable[..., HTTPClient],
) -> None:
    assert make_sender()._limits == Limits()
    assert (Limits().total_ms, Limits().connect_ms) == (10_000, 5_000)
    assert signature(Resolver).parameters["timeout_s"].default == 2.0
