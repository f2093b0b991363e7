"""Parallel workers start to import at different places, and collect the same tests as a single worker."""

import os
from pathlib import Path

import pytest

from tests.plugins.own_run import run_tests
from tools.local import ROOT

pytestmark = pytest.mark.slow

FOLDER = "package"
MODULES = [f"{FOLDER}.test_{letter}" for letter in "abcdef"]
# Writes down which worker imports it.
MODULE = """
import os
from pathlib import Path

with Path(__file__).with_name(os.environ["PYTEST_XDIST_WORKER"]).open("a") as log:
    log.write(__name__ + "\\n")

def test_passes(): pass
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / FOLDER
    folder.mkdir()
    (folder / "__init__.py").touch()
    for name in MODULES:
        (tmp_path / name.replace(".", "/")).with_suffix(".py").write_text(MODULE)
    return folder


def run(package: Path, *arguments: str) -> tuple[int, str]:
    path = os.pathsep.join((str(ROOT), str(package.parent)))
    return run_tests(package.parent, MODULE, "imports", *arguments, str(package), PYTHONPATH=path)


def test_each_worker_begins_with_another_part_and_imports_every_module_once(package: Path) -> None:
    status, printed = run(package, "-n3")
    assert status == 0, printed
    assert "7 passed" in printed
    imported = [(package / f"gw{number}").read_text().split() for number in range(3)]
    assert [sorted(names) for names in imported] == [MODULES] * 3
    assert [names[0] for names in imported] == MODULES[::2]


def test_a_module_that_cannot_be_imported_or_skips_itself_is_reported(package: Path) -> None:
    (package / "test_c.py").write_text("raise ValueError('broken')")
    (package / "test_d.py").write_text("import pytest\npytest.skip('left out', allow_module_level=True)")
    status, printed = run(package, "-n2")
    assert status == 1, printed
    assert "ValueError: broken" in printed
    assert "1 skipped" in printed
    assert "2 errors" in printed  # one for each worker
