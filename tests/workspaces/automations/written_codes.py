"""Finds, in the source of automations, the codes that runs, their steps and facts can keep."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final

from config.http import error_codes
from tools.local import ROOT
from tools.structure import Module, read_modules

CODE: Final = re.compile(r"[a-z][a-z_]*")
# What is called with a code, and as which argument.
DETAILS: Final = {
    "Leave": 1,
    "Pause": 1,
    "_listen": 2,
    "Failure": 0,
    "StepFailed": 0,
    "CallRefused": 0,
    "AiFault": 0,
} | {"refused": 1}
EVENTS: Final = {"_nothing": 0, "Decision": 1, "EventResult": 2, "_start_first": 2, "_continue": 2}
STOPS: Final = {"stop": 1, "stop_and_count": 1}
FAILURES: Final = {"_fail": 1}
SQL: Final = "'([a-z_]+)'"


@cache
def modules() -> list[Module]:
    return [one for name, one in read_modules(ROOT).items() if name.startswith("workspaces.automations.")]


def codes_of(calls: Mapping[str, int], *, keyword: str = "", sql: str = "") -> set[str]:
    """Find the codes that stand in these calls, as this keyword, or in statements of SQL behind this column."""
    return {code for module in modules() for code in _codes_in(module, calls, keyword, sql)}


def _codes_in(module: Module, calls: Mapping[str, int], keyword: str, sql: str) -> Iterator[str]:
    names = vars(import_module(module.name))
    if sql:
        yield from re.findall(f"\\b{sql} = {SQL}", module.text)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            yield from _strings(_arguments(node, calls, keyword), names)


def _arguments(call: ast.Call, calls: Mapping[str, int], keyword: str) -> list[ast.expr]:
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    place = calls.get(called)
    if place is None:
        return []
    named = [one.value for one in call.keywords if one.arg == keyword]
    return [*call.args[place : place + 1], *named]


def _strings(expressions: Iterable[ast.AST], names: Mapping[str, Any]) -> Iterator[str]:
    """Yield the codes in expressions, but not those in what is called there."""
    for node in expressions:
        value = node.value if isinstance(node, ast.Constant) else names.get(getattr(node, "id", ""))
        if isinstance(value, str) and CODE.fullmatch(value):
            yield str(value)
        if not isinstance(node, ast.Call | ast.JoinedStr):
            yield from _strings(ast.iter_child_nodes(node), names)


def returned_by(function: Any) -> set[str]:
    """Find the codes that a function returns or keeps as `code`."""
    module = next(one for one in modules() if one.name == function.__module__)
    [found] = [node for node in ast.walk(module.tree) if getattr(node, "name", "") == function.__name__]
    kept = [node.value for node in ast.walk(found) if isinstance(node, ast.Return | ast.Assign) and node.value]
    return set(_strings(kept, vars(import_module(module.name))))


def http_codes() -> set[str]:
    """The codes with which the HTTP client ends a call."""
    own = {value for name, value in vars(error_codes).items() if name.isupper() and isinstance(value, str)}
    return own | {str(error_codes.of_status(status)) for status in range(100, 600, 100) if status != 200}
