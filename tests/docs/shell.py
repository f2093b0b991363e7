"""Runs the commands of pages as a reader would: in one shell, from the top to the end."""

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

BLOCK = re.compile(
    r"^```(?:sh)?\n(?P<commands>.*?)^```\n(?:\n```json\n(?P<shown>.*?)^```\n)?", re.DOTALL | re.MULTILINE
)
OTHER = re.compile(r"^```\w+\n.*?^```\n", re.DOTALL | re.MULTILINE)
# What the reader takes from the terminal: `KEY=svc_…`.
PRINTED = re.compile(r"^[A-Z_]+=.*….*\n", re.MULTILINE)
# Stands before the real curl, and keeps what it answers. A function of the shell starts no program but curl and cat.
WRAPPER = """
entries() { printf %03d $#; }
curl() {
  answer_file="$ANSWERS/$(entries "$ANSWERS"/*)-$BLOCK"
  command curl -sS -o "$answer_file" -w "%{stderr}%{http_code}" "$@" 2> "$answer_file.status" || true
  cat "$answer_file"
}
"""


class Block(NamedTuple):
    """Commands of a page, and the answer that it shows after them."""

    page: str
    commands: str
    shown: Any


class Answer(NamedTuple):
    status: int
    body: Any


def blocks_of(page: Path) -> list[Block]:
    """Give the blocks of a page that call something, and what they need before."""
    found = BLOCK.finditer(OTHER.sub(_kept, page.read_text()))
    return [
        Block(page.name, PRINTED.sub("", one["commands"]), json.loads(one["shown"]) if one["shown"] else None)
        for one in found
        if "curl " in one["commands"]
    ]


def _kept(block: re.Match[str]) -> str:
    return block[0] if block[0].startswith(("```sh\n", "```json\n")) else ""


class Shell:
    """`done` holds each block with the answers to its calls."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.answers = folder, folder / "answers"
        self.done: list[tuple[Block, list[Answer]]] = []
        self.answers.mkdir()

    def run(self, blocks: Sequence[Block], variables: Mapping[str, str]) -> None:
        """Run them one after the other with the variables that a reader has set."""
        environment = {**variables, "PATH": os.environ["PATH"], "ANSWERS": str(self.answers)}
        script = WRAPPER + "".join(f"export BLOCK={number}\n{one.commands}" for number, one in enumerate(blocks))
        ran = subprocess.run(
            ["sh", "-eu"], input=script, env=environment, cwd=self.folder, capture_output=True, text=True, timeout=300
        )
        assert ran.returncode == 0, ran.stderr
        self.done = [(one, self._answers(number)) for number, one in enumerate(blocks)]

    def _answers(self, block: int) -> list[Answer]:
        files = sorted(self.answers.glob(f"*-{block}"))
        return [Answer(int(Path(f"{one}.status").read_text()), json.loads(one.read_text())) for one in files]
