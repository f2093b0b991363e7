"""What the last whole sweep saw: of each page the files that it is made of, and the digest of their contents."""

import ast
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from tests.flows.every_page.routes import area_of
from tools.local import ROOT

SWEPT: Final = Path(__file__).with_name("swept.json")
# What looks at every page. When one of them changes, all pages are looked at again.
LOOKING: Final = (
    "tests/flows/conftest.py",
    *(
        f"tests/flows/every_page/{name}"
        for name in (
            "checks.js",
            "checks.py",
            "conftest.py",
            "dependencies.py",
            "extremes.py",
            "record.py",
            "routes.py",
            "sweep.py",
            "test_every_page.py",
        )
    ),
)
LOCK: Final = "lock/dev.txt"
LOOKING_PACKAGES: Final = ("axe-playwright-python==", "django==", "playwright==")
DIGITS: Final = 16
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
CLASS_NAME: Final = re.compile("_?[A-Z][A-Za-z]*[a-z]")
FOR_TYPES: Final = frozenset(("Protocol", "TypedDict"))
TYPE_PARAMETERS: Final = frozenset(("ParamSpec", "TypeVar"))


class _WithoutTypes(ast.NodeTransformer):
    """Leaves out docstrings, annotations and what only type checkers read."""

    def __init__(self) -> None:
        self._functions = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._without_docstring(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._without_docstring(node)

    def visit_Module(self, node: ast.Module) -> ast.AST:
        return self._without_docstring(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST | None:
        if any(_name(base) in FOR_TYPES for base in node.bases):
            return None
        return self._without_docstring(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        """Keep a field's name, which a dataclass or a named tuple reads, and whether it belongs to the class."""
        if self._functions:
            return self.generic_visit(ast.Assign([node.target], node.value)) if node.value else None
        is_of_class = "ClassVar" in ast.dump(node.annotation)
        node.annotation = ast.Constant("ClassVar" if is_of_class else "")
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        is_type_parameter = isinstance(node.value, ast.Call) and _name(node.value.func) in TYPE_PARAMETERS
        is_alias = isinstance(node.value, ast.Subscript) and bool(CLASS_NAME.match(_name(node.targets[0])))
        return None if is_type_parameter or is_alias else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        _, *values = node.args or [node]
        is_cast = _name(node.func) == "cast" and len(values) == 1
        return self.visit(values[0]) if is_cast else self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if _name(node.test) == "TYPE_CHECKING" else self.generic_visit(node)

    def _without_docstring(self, node: Documented) -> ast.AST:
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
        if isinstance(node, ast.Module | ast.ClassDef):
            return self.generic_visit(node)
        node.returns = None
        self._functions += 1
        self.generic_visit(node)
        self._functions -= 1
        return node


def _name(node: ast.expr) -> str:
    """Give the last part of a dotted name, without what stands in brackets behind it."""
    node = node.value if isinstance(node, ast.Subscript) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def running_code(source: str) -> str:
    """Sum up what a Python file does: other comments, docstrings, types and their imports leave it the same."""
    try:
        tree = _WithoutTypes().visit(ast.parse(source))
    except SyntaxError:
        return source
    nodes = list(ast.walk(tree))
    # A name in a string may be one of `__all__`.
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    used |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            node.names = [name for name in node.names if (name.asname or name.name) in used]
    for node in nodes:
        if isinstance(body := getattr(node, "body", None), list):
            body[:] = [part for part in body if not isinstance(part, ast.ImportFrom) or part.names]
    return ast.dump(tree)


def _content_of(path: Path) -> bytes:
    return running_code(path.read_text()).encode() if path.suffix == ".py" else path.read_bytes()


class Tree:
    """The files of the project as they are now."""

    def __init__(self, root: Path = ROOT, looking: Iterable[str] = LOOKING) -> None:
        self._root = root
        self._contents: dict[str, str] = {}
        self._looking = [*self._lines(looking), *self._packages()]

    def digest(self, files: Iterable[str]) -> str:
        """Sum up the contents of files, and of what looks at them."""
        return sha256("\n".join([*self._looking, *self._lines(files)]).encode()).hexdigest()[:DIGITS]

    def _lines(self, files: Iterable[str]) -> list[str]:
        return [f"{file} {self._content(file)}" for file in sorted(files)]

    def _content(self, file: str) -> str:
        if file not in self._contents:
            path = self._root / file
            self._contents[file] = sha256(_content_of(path)).hexdigest() if path.is_file() else "gone"
        return self._contents[file]

    def _packages(self) -> list[str]:
        lines = (self._root / LOCK).read_text().splitlines()
        return [line.split()[0] for line in lines if line.startswith(LOOKING_PACKAGES)]


@dataclass(frozen=True)
class SweptPage:
    """The files of a page, below the root, and the digest of all their contents together.

    It is one digest of all, so that a merge of two records never claims that both changes were seen on one page.
    """

    files: list[str]
    digest: str


@dataclass(frozen=True)
class Record:
    """Pages by their names, as they were when they were swept."""

    pages: Mapping[str, SweptPage]

    def has_changed(self, name: str, tree: Tree) -> bool:
        """Whether a page was never swept, or anything that it is made of is another than it was then."""
        page = self.pages.get(name)
        return page is None or page.digest != tree.digest(page.files)


def record_of(files: Mapping[str, list[str]], tree: Tree) -> Record:
    """Give the record of pages that are made of these files, as they are now."""
    return Record({name: SweptPage(parts, tree.digest(parts)) for name, parts in files.items()})


def files_changed_since(
    nanoseconds: int, files: Iterable[str], root: Path = ROOT, looking: Iterable[str] = LOOKING
) -> list[str]:
    """Give the files that may be others than those which a sweep saw."""
    paths = {file: root / file for file in (*files, *looking)}
    return sorted(file for file, path in paths.items() if path.stat().st_mtime_ns > nanoseconds)


def read_record(path: Path = SWEPT) -> Record:
    """Read what was swept; without a file, nothing was."""
    areas: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return Record(
        {
            name: SweptPage(sorted({*area["files"]} - {*page["without"]} | {*page["with"]}), page["digest"])
            for area in areas.values()
            for name, page in area["pages"].items()
        }
    )


def write_record(record: Record, path: Path = SWEPT) -> None:
    """Write what was swept, area by area: what most of its pages are made of, and what each has besides or has not."""
    areas: defaultdict[str, dict[str, SweptPage]] = defaultdict(dict)
    for name, page in record.pages.items():
        areas[area_of(name)][name] = page
    written = {}
    for area, pages in areas.items():
        counts = Counter(file for page in pages.values() for file in page.files)
        of_most = {file for file, count in counts.items() if count * 2 > len(pages)}
        differing = {
            name: {
                "digest": page.digest,
                "with": sorted({*page.files} - of_most),
                "without": sorted(of_most - {*page.files}),
            }
            for name, page in pages.items()
        }
        written[area] = {"files": sorted(of_most), "pages": differing}
    path.write_text(json.dumps(written, indent=1, sort_keys=True) + "\n")
