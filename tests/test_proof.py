"""docs/proof.md is compared with the files that it names."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.proof import document
from tests.proof.document import FAILED, HOLDS, Row
from tests.sizes import CHAOS, PROOFS, Proof
from tools.local import ROOT

PROOF = Proof("It holds", ("tests/test_it.py",), ("product",), {"things": (2, 2_000)})
ALL = {"it": PROOF}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project of two files."""
    for name in ("tests/test_it.py", "product/module.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("x = 1\n")
    return tmp_path


def proved(folder: Path, proof: Proof = PROOF) -> dict[str, Row]:
    """Give the rows of a document that was just written."""
    digest = document.digest(folder, proof)
    row = Row("it", proof.title, HOLDS, "7 tests", document.sizes_of(proof), "3", "2026-01-01", digest)
    return document.read(document.written({"it": row}, ALL))


def test_what_was_proved_of_the_files_as_they_are_is_fresh(folder: Path) -> None:
    rows = proved(folder)
    (folder / "product" / "__pycache__").mkdir()
    (folder / "product" / "__pycache__" / "module.pyc").write_text("compiled")
    assert document.complaints(folder, rows, ALL) == []
    assert rows["it"][:7] == ("it", "It holds", HOLDS, "7 tests", "things 2,000", "3", "2026-01-01")


@pytest.mark.parametrize("changed", ["product/module.py", "product/new.py", "tests/test_it.py"])
def test_a_row_is_stale_when_a_file_has_changed(folder: Path, changed: str) -> None:
    rows = proved(folder)
    (folder / changed).write_text("x = 2\n")
    assert document.complaints(folder, rows, ALL) == ["stale: it"]


def test_a_row_is_stale_when_a_file_is_called_otherwise_or_a_size_is_another(folder: Path) -> None:
    rows = proved(folder)
    larger = {"it": PROOF._replace(sizes={"things": (2, 4_000)})}
    assert document.complaints(folder, rows, larger) == ["stale: it"]
    (folder / "product" / "module.py").rename(folder / "product" / "other.py")
    assert document.complaints(folder, rows, ALL) == ["stale: it"]


def test_what_never_ran_and_what_failed_is_no_proof(folder: Path) -> None:
    assert document.complaints(folder, document.read(document.written({}, ALL)), ALL) == ["not run yet: it"]
    failed = {"it": proved(folder)["it"]._replace(result=FAILED)}
    assert document.complaints(folder, failed, ALL) == ["failed: it"]


def test_a_run_of_one_search_leaves_the_rows_of_the_others(folder: Path) -> None:
    both = {**ALL, "other": PROOF._replace(title="The other holds")}
    rows = document.read(document.written({**proved(folder), "other": Row("other", "", FAILED)}, both))
    assert [(row.name, row.title, row.result) for row in rows.values()] == [
        ("it", "It holds", HOLDS),
        ("other", "The other holds", FAILED),
    ]


def test_every_file_that_a_proof_names_is_there_and_each_is_larger_at_full_size() -> None:
    for name, proof in PROOFS.items():
        assert document.digest(ROOT, proof), name
        assert proof.run[:2] == CHAOS or all(small < full for small, full in proof.sizes.values()), name


def test_what_is_stale_is_a_note_and_strictly_an_error() -> None:
    """Both forms say the same of this checkout, stale or not."""
    asked = [sys.executable, "-m", "tests.proof"]
    note, error = (
        subprocess.run([*asked, *more], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
        for more in ((), ("--strict",))
    )
    assert note.stderr == error.stderr == ""
    assert (note.returncode, error.returncode) == (0, int(bool(error.stdout)))
    assert note.stdout == error.stdout
