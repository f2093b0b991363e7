"""Runs the samples of the reference pages as they stand, in each of their languages."""

import contextlib
import io
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

Run = Callable[[str], str | None]
SECONDS = 120
# Reads a script a line, as JSON, and answers each with null, or with what went wrong.
NODE = """
import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  let fault = null;
  const script = Buffer.from(`${JSON.parse(line)}\\n// ${Math.random()}`).toString("base64");
  try { await import(`data:text/javascript;base64,${script}`); } catch (error) { fault = String(error); }
  process.stderr.write(JSON.stringify(fault) + "\\n");
}
"""


@contextmanager
def runner_of(language: str, *, key: str, folder: Path) -> Iterator[Run]:
    """Give what runs a script in a folder with a key, and gives None or what went wrong."""
    environment = {**os.environ, "API_KEY": key}
    if language == "node":
        with _node(environment, folder) as run:
            yield run
    else:
        yield _curl(environment, folder) if language == "curl" else _python(key, folder)


def _curl(environment: dict[str, str], folder: Path) -> Run:
    def run(script: str) -> str | None:
        ran = subprocess.run(
            ["bash", "-e"],
            input=script.replace("curl ", "curl --fail-with-body -sS ", 1),
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        return None if ran.returncode == 0 else ran.stderr + ran.stdout

    return run


def _python(key: str, folder: Path) -> Run:
    def run(script: str) -> str | None:
        os.environ["API_KEY"] = key
        names: dict[str, Any] = {}
        try:
            with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
                exec(compile(script, "sample.py", "exec"), names)  # noqa: S102  # the sample itself is under test
        except (requests.RequestException, LookupError, ValueError) as error:
            answer = names.get("answer")
            return f"{error!r} {answer.text if answer is not None else ''}"
        finally:
            del os.environ["API_KEY"]
        return None

    return run


@contextmanager
def _node(environment: dict[str, str], folder: Path) -> Iterator[Run]:
    """One process for all, as starting one takes longer than a sample does."""
    command = ["node", "--input-type=module", "-e", NODE]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe, text=True, env=environment, cwd=folder
    ) as process:
        assert process.stdin
        assert process.stderr
        told, asked = process.stderr, process.stdin

        def run(script: str) -> str | None:
            asked.write(json.dumps(script) + "\n")
            asked.flush()
            fault: str | None = json.loads(told.readline())
            return fault

        yield run
        asked.close()
        assert process.wait(SECONDS) == 0
