"""Writes the table of all registries into docs/architecture.md: `make hooks`.

An app declares a registry, and other apps fill it with `.add(…)`. The table says where. Both are read from the source.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

import django
from django.conf import settings

from config.hooks import Registry
from tools.local import ROOT
from tools.structure import Module, read_modules

PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- Made by `make hooks` -->", "<!-- Until here -->"
HEAD = "| Registry | Declared in | Filled by | Called | Transaction | Failure |\n| - | - | - | - | - | - |\n"


@dataclass(frozen=True)
class Hook:
    """A registry, the module that declares it under `name`, and the modules that add to it in the apps' order."""

    name: str
    module: str
    registry: Registry[Any]
    fillers: list[str] = field(default_factory=list)

    @property
    def row(self) -> str:
        filled = ", ".join(f"`{module}`" for module in self.fillers)
        said = (self.registry.called, self.registry.transaction, self.registry.failure)
        return f"| `{self.name}` | `{self.module}` | {filled} | {' | '.join(said)} |\n"


@cache
def all_hooks() -> list[Hook]:
    """Find every registry of the product, by app and name."""
    modules = read_modules(ROOT)
    declared = (hook for module in modules.values() for hook in _declared(module))
    hooks = {id(hook.registry): hook for hook in declared}
    for module in sorted(modules.values(), key=lambda module: (_app_order(module.name), module.name)):
        for registry in _filled(module):
            fillers = hooks[id(registry)].fillers
            if module.name not in fillers:
                fillers.append(module.name)
    return sorted(hooks.values(), key=lambda hook: (_app_order(hook.module), hook.module, hook.name))


def _declared(module: Module) -> Iterator[Hook]:
    if "Registry" in module.text:
        for node in module.tree.body:
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if isinstance(target, ast.Name):
                value = getattr(import_module(module.name), target.id, None)
                if isinstance(value, Registry):
                    yield Hook(target.id, module.name, value)


def _filled(module: Module) -> Iterator[Registry[Any]]:
    """Yield the registry of each `registry.add(…)`, also if a function makes the call."""
    if ".add(" not in module.text:
        return
    names = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in module.imports
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and node.attr == "add" and isinstance(node.value, ast.Name):
            source, name = names.get(node.value.id, (module.name, node.value.id))
            value = getattr(import_module(source), name, None)
            if isinstance(value, Registry):
                yield value


def _app_order(module: str) -> int:
    """Return the place of a module's app among those that are installed, which is the order of a registry's items."""
    apps = [app for app in settings.INSTALLED_APPS if f"{module}.".startswith(f"{app}.")]
    return settings.INSTALLED_APPS.index(apps[0]) if apps else -1


def page_with_hooks(page: str) -> str:
    """Return the page with the table between its two markers."""
    table = HEAD + "".join(hook.row for hook in all_hooks())
    before, inside = page.split(BEGIN)
    return f"{before}{BEGIN}\n\n{table}\n{END}{inside.split(END)[1]}"


def main() -> int:
    django.setup()
    PAGE.write_text(page_with_hooks(PAGE.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
