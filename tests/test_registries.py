"""The registries that apps fill in their hooks, and the page that lists them."""

import re
from dataclasses import dataclass
from importlib import import_module
from typing import Final

import pytest
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.db.models import Value

from config.hooks import Registry, load_hooks
from tools.hooks import PAGE, all_hooks, page_with_hooks
from tools.local import ROOT
from tools.structure import read_modules
from workspaces.subaccounts.models.channels import AllowanceSource, allowance_sources

# Functions, classes, fields of classes, and names in quotes, such as those of tasks.
NAMED: Final = re.compile(r"\b(?:def|class) (\w+)|^ +(\w+): |\"([\w./]+)\"", re.MULTILINE)


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


def test_a_registry_for_one_answer_refuses_a_second_one() -> None:
    with pytest.raises(ImproperlyConfigured, match=r"sources of used allowances: channelconnect\.allowance or another"):
        allowance_sources.add(AllowanceSource("another", lambda: Value(0)))
    assert [source.name for source in allowance_sources] == ["channelconnect.allowance"]


def test_hooks_are_loaded_once_however_often_that_is_asked_for() -> None:
    for _ in range(2):
        load_hooks(apps.get_app_config("agency"))


def test_the_page_lists_the_registries_as_they_are() -> None:
    page = PAGE.read_text()
    assert page_with_hooks(page) == page, "`make hooks` writes the table of docs/architecture.md anew."


def test_no_registry_is_missing() -> None:
    modules = [import_module(name) for name in read_modules(ROOT)]
    registries = {id(value): value for module in modules for value in vars(module).values()}
    found = {one.kind for one in registries.values() if isinstance(one, Registry)}
    assert found == {hook.registry.kind for hook in all_hooks()}
    assert len(found) == len(all_hooks()), "Two registries are of the same kind."


def test_every_registry_is_filled_and_described() -> None:
    for name in read_modules(ROOT):
        import_module(name)  # the apps' tasks fill some registries
    for hook in all_hooks():
        assert hook.fillers, f"Nobody adds to {hook.name} with `.add(…)`."
        assert list(hook.registry), hook.name
        for said in (hook.registry.called, hook.registry.transaction, hook.registry.failure):
            assert said, hook.name
            assert not {"\n", "|"} & set(said), hook.name
            assert not said.endswith("."), hook.name


def test_what_the_page_names_is_there() -> None:
    text = "\n".join(module.text for module in read_modules(ROOT).values())
    known = {name for names in NAMED.findall(text) for name in names}
    said = {name: hook.name for hook in all_hooks() for name in re.findall(r"`([^`]+)`", hook.registry.called)}
    assert {name: hook for name, hook in said.items() if not {name, name.rpartition(".")[2]} & known} == {}
