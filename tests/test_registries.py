"""The registries that apps fill in their hooks."""

from dataclasses import dataclass

import pytest
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured

from config.hooks import Registry, load_hooks


@dataclass(frozen=True)
class Thing:
    name: str
    size: int = 0


def new_registry() -> Registry[Thing]:
    return Registry[Thing]("things", called="by the test", transaction="none", failure="fails the test")


def test_a_registry_gives_what_was_added_in_that_order() -> None:
    things = new_registry()
    things.add(Thing("second"), Thing("first"))
    things.add(Thing("third"))
    assert [thing.name for thing in things] == ["second", "first", "third"]
    assert things.get("first") == Thing("first")
    assert things.get("fourth") is None


def test_a_name_is_added_once() -> None:
    things = new_registry()
    things.add(Thing("one", size=1))
    with pytest.raises(ImproperlyConfigured, match="There are two things named one"):
        things.add(Thing("one", size=2))
    assert list(things) == [Thing("one", size=1)]


def test_hooks_are_loaded_once_however_often_that_is_asked_for() -> None:
    for _ in range(2):
        load_hooks(apps.get_app_config("agency"))
