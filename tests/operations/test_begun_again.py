"""The page about crashes says of every task and command what it begins again after a crash, and what ends that."""

import re
from pathlib import Path

from config.celery import app
from config.queues import TASKS
from tools.local import ROOT

HEADING = "## What is begun again after a crash\n"
KIND = re.compile(r"\[([a-z -]+)\](?!\()")
SET_ASIDE = re.compile(r'set_aside\("([^"]+)"\)')
IS_COUNTED = re.compile(r"config\.tries\.counting import|import AddressRequests")
# How the product names the kinds of work whose tries it counts.
NAMED = re.compile(
    r'^(?:[A-Z_]*KIND|BEGINNING|PREPARATION)(?:: Final)? = "([^"]+)"$|\bJob\("([^"]+)",|AddressRequests\("([^"]+)",',
    re.MULTILINE,
)


def rows() -> list[list[str]]:
    page = (ROOT / "docs/operations/crashes.md").read_text()
    section = page.partition(HEADING)[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def sources() -> list[Path]:
    apps = ("agency", "broadcasts", "channelconnect", "config", "packs", "webhooks", "workspaces")
    return [path for name in apps for path in (ROOT / name).rglob("*.py")]


def commands() -> set[str]:
    return {path.stem for path in sources() if path.parts[-3:-1] == ("management", "commands")} - {"__init__"}


def kinds_of_product() -> set[str]:
    texts = [text for path in sources() if IS_COUNTED.search(text := path.read_text())]
    return {kind for text in texts for found in NAMED.findall(text) for kind in found if kind}


def test_every_task_and_every_command_is_in_the_table() -> None:
    app.loader.import_default_modules()
    tasks = {name for name in app.tasks if not name.startswith("celery.")}
    assert tasks == {task.name for task in TASKS}
    named = [name for row in rows() for name in re.findall(r"`([a-z_.]+)`", row[0])]
    assert sorted(named) == sorted(tasks | commands())
    assert all(len(row) == 4 and all(row) for row in rows())


def test_every_kind_of_work_is_in_the_table_and_is_killed_by_a_test() -> None:
    in_table = {kind for row in rows() for kind in KIND.findall(row[2])}
    tests = [path.read_text() for path in (ROOT / "tests/config/tries").glob("test_*.py")]
    killed = {kind for text in tests for kind in SET_ASIDE.findall(text)}
    assert in_table == kinds_of_product()
    assert in_table - killed == set()
