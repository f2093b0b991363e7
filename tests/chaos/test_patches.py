"""Each mutation still fits what it breaks: a function that takes too little would break it in another way."""

import inspect
from collections.abc import Callable, Iterator
from importlib.util import find_spec, module_from_spec
from types import FunctionType, ModuleType
from typing import Any

import pytest

from tests.chaos.mutations.patches import PATCHES

EACH_PATCH = [(mutation, module) for mutation, modules in PATCHES.items() for module in modules]


def fresh(name: str) -> ModuleType:
    """Give a copy of a module that nobody else has, so that it can be broken."""
    spec = find_spec(name)
    assert spec
    assert spec.loader
    copy = module_from_spec(spec)
    spec.loader.exec_module(copy)
    return copy


def functions_of(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Give what can be called of a module and of its classes, by its name."""
    classes = [one for one in vars(module).values() if inspect.isclass(one) and one.__module__ == module.__name__]
    owners: list[Any] = [module, *classes]
    for owner in owners:
        yield from ((f"{owner.__name__}.{name}", one) for name, one in vars(owner).items() if callable(one))


def bind_all(signature: inspect.Signature, other: inspect.Signature) -> None:
    """Call the other as the first one can be called, with all that it takes. Raises `TypeError` where it refuses."""
    single = [one for one in signature.parameters.values() if one.kind not in {one.VAR_POSITIONAL, one.VAR_KEYWORD}]
    first = [one for one in single if one.kind != one.KEYWORD_ONLY and one.default is one.empty]
    other.bind(*(None for _ in first), **{one.name: None for one in single if one not in first})


@pytest.mark.parametrize(("mutation", "name"), EACH_PATCH)
def test_what_a_mutation_breaks_is_there_and_takes_what_it_took(mutation: str, name: str) -> None:
    broken = fresh(name)
    PATCHES[mutation][name](broken)
    found = dict(functions_of(broken))
    for which, function in functions_of(fresh(name)):
        if isinstance(function, FunctionType) and function.__module__ == name:
            bind_all(inspect.signature(function), inspect.signature(found[which]))
