"""Every package that the product imports is declared, and every installed package has a known licence."""

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

from tools.licences import locked, normal
from tools.local import ROOT

DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())
PRODUCT = [name for name in DECLARED["tool"]["importlinter"]["root_packages"] if name != "tools"]
LOCK = (ROOT / "lock" / "production.txt").read_text()
LICENCES = (ROOT / "docs" / "licences.md").read_text()
# Packages that come with a declared one: parts of DRF and Celery, and those that django-storages needs for buckets.
COMES_WITH = {"billiard", "boto3", "botocore", "jsonschema", "kombu"}
COPYLEFT = re.compile(r"\b(A?GPL|GNU (Affero )?General Public)", re.IGNORECASE)


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for package in PRODUCT:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path.relative_to(ROOT), ast.parse(path.read_text())


def imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Give each imported module with each name imported from it; the name is empty for the module itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.module, alias.name) for alias in node.names)


def test_what_the_product_imports_is_declared() -> None:
    declared = {normal(re.split(r"[\[<>=~]", one)[0]) for one in DECLARED["project"]["dependencies"]}
    found = {module.partition(".")[0] for _, tree in trees() for module, _ in imported(tree)}
    owners = packages_distributions()
    foreign = {normal(owner) for module in found - {"yaml"} for owner in owners.get(module, [])}
    assert foreign - declared - COMES_WITH == set()


def test_no_private_name_of_psycopg_is_used() -> None:
    private = [
        f"{path}: {module} {name}"
        for path, tree in trees()
        for module, name in imported(tree)
        if module.partition(".")[0] == "psycopg" and ("._" in module or name.startswith("_"))
    ]
    assert private == []
    assert "psycopg-pool" not in LOCK


def listed() -> dict[str, tuple[str, str]]:
    rows = [line.split("|")[1:4] for line in LICENCES.splitlines() if line.startswith("| ")][2:]
    return {normal(name.strip()): (version.strip(), licence.strip()) for name, version, licence in rows}


def test_every_package_of_an_installation_is_listed_with_its_licence() -> None:
    assert {name: version for name, (version, _) in listed().items()} == {
        normal(name): version for name, version in locked().items()
    }
    assert [name for name, (_, licence) in listed().items() if licence in ("", "UNKNOWN")] == []


def test_no_licence_binds_the_product_itself() -> None:
    """Libraries under the LGPL are allowed, because anybody can exchange a separate package."""
    assert [name for name, (_, licence) in listed().items() if COPYLEFT.search(licence)] == []
