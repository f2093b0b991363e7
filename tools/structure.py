"""Holds the product's files to a shape in which people find things: `python -m tools.structure`, part of `make lint`.

It counts the Python files of the product without migrations. Tests, tools and benchmarks are not counted.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tools.local import ROOT

PRODUCT = ("config", "agency", "workspaces", "webhooks", "packs", "channelconnect", "broadcasts")
LONGEST_FILE = 400
LONGEST_FUNCTION = 50
# A file as short as this belongs into the only file that imports it.
SMALL_FILE = 40


@dataclass(frozen=True)
class Limit:
    """What a figure may be at most, or at least."""

    most: float = float("inf")
    least: float = 0
    unit: str = ""

    def holds(self, value: float) -> bool:
        return self.least <= value <= self.most

    def __str__(self) -> str:
        return f"at most {self.most:g}{self.unit}" if self.least == 0 else f"at least {self.least:g}{self.unit}"


# Raise a limit only with its reason. More code may need more files: whether they are full is what the mean says.
LIMITS = {
    "files": Limit(most=840),
    "lines": Limit(most=139_200),
    "mean lines of a file": Limit(least=130),
    "folders": Limit(most=103),
    "imports, share of lines": Limit(most=9.5, unit=" %"),
    f"files of {SMALL_FILE} lines or less that one other imports": Limit(most=20),
    "files in an import circle": Limit(most=0),
    f"files of more than {LONGEST_FILE} lines": Limit(most=0),
    f"functions of more than {LONGEST_FUNCTION} lines": Limit(most=0),
    "uses of `Any` per 100 lines": Limit(most=0.5),
    "uses of `type: ignore`": Limit(most=30),
}


@dataclass(frozen=True)
class Module:
    """A file of the product."""

    name: str
    path: Path
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @cached_property
    def _imports_for_types(self) -> set[int]:
        """Find the imports below `if TYPE_CHECKING:`. They are no part of a circle."""
        blocks = (node for node in ast.walk(self.tree) if isinstance(node, ast.If))
        return {id(node) for block in blocks if _is_type_checking(block) for node in ast.walk(block)}

    @cached_property
    def imports(self) -> list[ast.Import | ast.ImportFrom]:
        return [node for node in ast.walk(self.tree) if isinstance(node, (ast.Import, ast.ImportFrom))]

    def imported(self, modules: Iterable[str], *, for_types: bool) -> set[str]:
        """Name the modules of the product that this one imports, with those that only its types need if wished."""
        wanted = [node for node in self.imports if for_types or id(node) not in self._imports_for_types]
        return {name for node in wanted for name in _names(node, set(modules))} - {self.name}

    @property
    def longest_functions(self) -> Iterator[str]:
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > LONGEST_FUNCTION:
                    yield f"{self.path}:{node.lineno} {node.name} ({length})"


def _is_type_checking(block: ast.If) -> bool:
    return isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"


def _names(node: ast.Import | ast.ImportFrom, modules: set[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in modules)
        return
    for alias in node.names:
        submodule = f"{node.module}.{alias.name}"
        if submodule in modules:
            yield submodule
        elif node.module in modules:
            yield str(node.module)


def read_modules(root: Path, packages: Iterable[str] = PRODUCT) -> dict[str, Module]:
    """Read all files of the packages below `root`, without migrations."""
    found = {}
    for package in packages:
        for path in sorted((root / package).rglob("*.py")):
            inside = path.relative_to(root)
            if "migrations" not in inside.parts:
                name = ".".join(inside.with_suffix("").parts).removesuffix(".__init__")
                found[name] = Module(name, inside, path.read_text())
    return found


def find_circle(modules: dict[str, Module]) -> list[str]:
    """Name the modules of one import circle, in their order, or nothing if there is none."""
    graph = {name: module.imported(modules, for_types=False) for name, module in modules.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1][1:])
    return []


def measure(modules: dict[str, Module]) -> dict[str, tuple[float, list[str]]]:
    """Give each figure of `LIMITS` with the places that it counts, where one would look for them."""
    every = list(modules.values())
    lines = sum(module.lines for module in every)
    imports = sum((node.end_lineno or node.lineno) - node.lineno + 1 for module in every for node in module.imports)
    importers = Counter(name for module in every for name in module.imported(modules, for_types=True))
    small = [
        str(module.path)
        for module in every
        if importers[module.name] == 1 and module.lines <= SMALL_FILE and module.path.name != "__init__.py"
    ]
    circle = find_circle(modules)
    long = [f"{module.path} ({module.lines})" for module in every if module.lines > LONGEST_FILE]
    functions = [place for module in every for place in module.longest_functions]
    names = (node for module in every for node in ast.walk(module.tree) if isinstance(node, ast.Name))
    ignored = sum(module.text.count("type: ignore") for module in every)
    values: list[tuple[float, list[str]]] = [
        (len(every), []),
        (lines, []),
        (round(lines / len(every)), []),
        (len({module.path.parent for module in every}), []),
        (round(100 * imports / lines, 1), []),
        (len(small), small),
        (len(circle), circle),
        (len(long), long),
        (len(functions), functions),
        (round(100 * sum(node.id == "Any" for node in names) / lines, 2), []),
        (ignored, []),
    ]
    return dict(zip(LIMITS, values, strict=True))


def main(root: Path = ROOT, packages: Iterable[str] = PRODUCT) -> int:
    """Print each figure beside its limit, and the places of those that do not hold. The status is 1 if one does not."""
    status = 0
    for name, (value, places) in measure(read_modules(root, packages)).items():
        limit = LIMITS[name]
        print(f"{name}: {value:g}{limit.unit} ({limit})")
        if not limit.holds(value):
            status = 1
            print(f"  This is not {limit}.", file=sys.stderr)
            for place in places:
                print(f"    {place}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
