"""docs/proof.md: what ran at full size, when, and of which files. Reads it, writes it, and says what is stale."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from tests.sizes import Proof

HOLDS, FAILED, NOT_RUN = "holds", "failed", "not run yet"
LEFT_OUT: Final = {"__pycache__"}
HEAD = """\
# What was proved at full size

`make test` plays every search below in its small form, the same in every run. `make prove` plays them at full size and
writes this file; do not edit it. `python -m tests.proof` says which rows are stale: of those a source or a test has
changed since, by the digest over both. Sizes, files and sources stand in `tests/sizes.py`.

"""


class Row(NamedTuple):
    """What came of a proof: `counts` is what it tried, `digest` that of the files then."""

    name: str
    title: str
    result: str = NOT_RUN
    counts: str = ""
    sizes: str = ""
    seed: str = ""
    date: str = ""
    digest: str = ""


COLUMNS = ("Proof", "What holds", "Result", "What was tried", "Sizes", "Seed", "Date", "Digest")


def read(text: str) -> dict[str, Row]:
    """Give the rows of a document by their names."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == len(Row._fields) and cells[0] not in {COLUMNS[0], "-"}:
            found[cells[0]] = Row(*cells)
    return found


def written(rows: Mapping[str, Row], proofs: Mapping[str, Proof]) -> str:
    """Give the document: a row of each proof, in their order."""
    lines = [f"| {' | '.join(COLUMNS)} |", f"| {' | '.join('-' for _ in COLUMNS)} |"]
    for name, proof in proofs.items():
        row = rows.get(name, Row(name, proof.title))._replace(title=proof.title)
        lines.append(f"| {' | '.join(row)} |")
    return HEAD + "\n".join(lines) + "\n"


def sizes_of(proof: Proof) -> str:
    return ", ".join(f"{name} {full:,}" for name, (_, full) in proof.sizes.items()) or "all scenarios"


def digest(root: Path, proof: Proof) -> str:
    """Give a digest over the paths and contents of what a proof proves and proves it with, and over its sizes."""
    found = hashlib.sha256(repr((proof.run, sorted(proof.sizes.items()))).encode())
    for path in sorted({file for name in (*proof.tests, *proof.proves) for file in _files(root / name)}):
        found.update(f"\0{path.relative_to(root)}\0".encode() + path.read_bytes())
    return found.hexdigest()[:16]


def _files(path: Path) -> Iterator[Path]:
    """Give the files of a folder, or the file. Raises `FileNotFoundError` for what is not there."""
    if path.is_file():
        yield path
        return
    if not path.is_dir():
        raise FileNotFoundError(path)
    yield from (file for file in path.rglob("*") if file.is_file() and not LEFT_OUT & set(file.parts))


def complaints(root: Path, rows: Mapping[str, Row], proofs: Mapping[str, Proof]) -> list[str]:
    """Say of which proofs the document tells nothing that still holds."""
    found = []
    for name, proof in proofs.items():
        row = rows.get(name, Row(name, proof.title))
        if row.result == HOLDS and row.digest != digest(root, proof):
            found.append(f"stale: {name}")
        elif row.result != HOLDS:
            found.append(f"{row.result}: {name}")
    return found
