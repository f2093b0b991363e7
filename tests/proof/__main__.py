"""`python -m tests.proof`: says which rows of docs/proof.md are stale; `--strict` makes that an error.

`python -m tests.proof run [name …] [--seed N] [--workers N]` plays searches at full size, all of them without a name,
and writes their rows. Each row is written as soon as its search has ended.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from tests.proof import document
from tests.proof.document import FAILED, HOLDS, Row
from tests.sizes import COUNTS, PROOFS, PYTEST, Proof
from tools.local import ROOT

DOCUMENT = ROOT / "docs" / "proof.md"
WORDS = re.compile(r"^(holds|caught|skipped|BROKEN|MISSED|NOT APPLIED) ", re.MULTILINE)


def print_line(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def rows() -> dict[str, Row]:
    return document.read(DOCUMENT.read_text() if DOCUMENT.exists() else "")


def check(*, is_strict: bool) -> int:
    found = document.complaints(ROOT, rows(), PROOFS)
    for complaint in found:
        print_line(complaint)
    if found:
        print_line(f'`make prove` plays them again, ARGS="{found[0].partition(": ")[2]}" one of them.')
    return int(bool(found) and is_strict)


def run(names: list[str], seed: int, workers: int) -> int:
    """Play searches one after the other; says how many failed."""
    if unknown := sorted({*names} - {*PROOFS}):
        print_line(f"There is no {', '.join(unknown)}. There are: {', '.join(PROOFS)}.")
        return len(unknown)
    failed = 0
    for name in names or PROOFS:
        row = play(name, PROOFS[name], seed, workers)
        DOCUMENT.write_text(document.written({**rows(), name: row}, PROOFS))
        print_line(f"{row.result}: {name}, {row.counts}, seed {row.seed}")
        failed += row.result != HOLDS
    return failed


def play(name: str, proof: Proof, seed: int, workers: int) -> Row:
    """Play one search. What changes meanwhile makes its row stale."""
    digest = document.digest(ROOT, proof)
    environment = {**os.environ, "PROOF": "full"}
    if proof.run == PYTEST:
        is_good, counts = play_tests(proof, seed, workers, environment)
    else:
        is_good, counts = play_chaos(proof, seed, environment)
    counted = ", ".join(f"{number:,} {what}" for what, number in sorted(counts.items()) if number)
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    result = HOLDS if is_good else FAILED
    return Row(name, proof.title, result, counted, document.sizes_of(proof), str(seed), today, digest)


def play_tests(proof: Proof, seed: int, workers: int, environment: dict[str, str]) -> tuple[bool, Counter[str]]:
    """Run the tests of a proof; modules that they only use are named beside them, and begin with another word."""
    tests = [path for path in proof.tests if (ROOT / path).is_dir() or Path(path).name.startswith("test_")]
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder, "counts")
        parallel = ["-n", str(workers), "--dist", "worksteal"]
        plugins = ["-p", "tests.proof.counting", f"--hypothesis-seed={seed}"]
        command = [sys.executable, *proof.run, *tests, *parallel, *plugins, "-q"]
        ran = subprocess.run(command, cwd=ROOT, env={**environment, COUNTS: str(counts)}, check=False)
        return ran.returncode == 0, Counter(json.loads(counts.read_text())) if counts.exists() else Counter()


def play_chaos(proof: Proof, seed: int, environment: dict[str, str]) -> tuple[bool, Counter[str]]:
    """Play scenarios; counts by the word that each came to."""
    command = [sys.executable, *proof.run, "--seed", str(seed)]
    ran = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    sys.stdout.write(ran.stdout)
    return ran.returncode == 0, Counter(WORDS.findall(ran.stdout))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.proof")
    parser.add_argument("--strict", action="store_true", help="what is stale is an error")
    commands = parser.add_subparsers(dest="command")
    running = commands.add_parser("run", help="play searches at full size")
    running.add_argument("names", nargs="*", metavar="name", help="a row of docs/proof.md")
    running.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10_000))
    running.add_argument("--workers", type=int, default=2)
    chosen = parser.parse_args(arguments)
    if chosen.command == "run":
        return int(run(chosen.names, chosen.seed, chosen.workers) > 0)
    return check(is_strict=chosen.strict)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
