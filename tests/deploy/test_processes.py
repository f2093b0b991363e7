"""The image, the compose file and the units start the processes of the plan, and nothing else."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from channelconnect.sending.loop import LAST_CALLS_SECONDS
from config.leases.connections import CLOSING_SECONDS
from config.operations.management.commands.serve_metrics import PORT
from config.queues import QUEUES
from tools.local import ROOT
from tools.local.runner.plan import ALONE, WORKERS, whole_system
from webhooks.dispatcher.loop import LAST_ATTEMPTS_SECONDS
from workspaces.automations.dispatcher.loop import LAST_CALLS_SECONDS as LAST_OUTSIDE_CALLS

DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
LAST_SECONDS = {"dispatcher": LAST_ATTEMPTS_SECONDS, "sender": LAST_CALLS_SECONDS, "calls": LAST_OUTSIDE_CALLS}
SERVERS = {"postgres", "redis", "migrations"}
UNITS = sorted((DEPLOY / "systemd").glob("agency-*.service"))
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()


def planned() -> dict[str, list[str]]:
    """The commands of the plan by process, as an installation runs them."""
    celery = ["celery", "-A", "config"]
    [web] = [child.command for child in whole_system(ROOT, 8000).children if child.name == "web"]
    return {
        "web": ["python", *web[1:]],
        **{worker.name: [*celery, *worker.arguments(), *ALONE] for worker in WORKERS},
        "beat": [*celery, "beat", "--pidfile="],
        "metrics": ["python", "manage.py", "serve_metrics", "--host", "127.0.0.1", "--port", str(PORT)],
    }


def at_any_host(command: list[str]) -> list[str]:
    return ["127.0.0.1" if part == "0.0.0.0" else part for part in command]  # a container's own network


def composed() -> dict[str, list[str]]:
    """The commands of the compose file; a service without one runs the image's."""
    [own] = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    services = {name: service for name, service in COMPOSE["services"].items() if name not in SERVERS}
    return {name: at_any_host(service.get("command") or json.loads(own)) for name, service in services.items()}


def unit_of(path: Path) -> dict[str, str]:
    """The settings of a unit's [Service]."""
    lines = (line for line in path.read_text().splitlines() if "=" in line and not line.startswith("#"))
    return dict(line.split("=", 1) for line in lines)


def name_of(path: Path) -> str:
    return path.stem.removeprefix("agency-").rstrip("@")


def started_by_units() -> dict[str, list[str]]:
    found = {}
    for path in UNITS:
        program, *arguments = shlex.split(unit_of(path)["ExecStart"].replace("%%", "%").replace("-%i@", "@"))
        found[name_of(path)] = [Path(program).name, *arguments]
    return found


@pytest.mark.parametrize("commands", [composed, started_by_units])
def test_the_processes_are_those_of_the_plan(commands: Any) -> None:
    assert commands() == planned()


def test_every_process_has_the_time_that_it_may_need_to_end() -> None:
    hard = {queue.name: queue.hard_seconds for queue in QUEUES}
    for worker in WORKERS:
        needed = max(hard[queue] for queue in worker.queues)
        if worker.name in LAST_SECONDS:
            needed = int(LAST_SECONDS[worker.name] + 2 * CLOSING_SECONDS)
        [unit] = [unit_of(path) for path in UNITS if name_of(path) == worker.name]
        grace = COMPOSE["services"][worker.name]["stop_grace_period"]
        assert int(unit["TimeoutStopSec"]) >= needed
        assert int(grace.removesuffix("s")) >= needed


def test_the_units_of_workers_name_their_queues() -> None:
    descriptions = {name_of(path): re.findall(r"^Description=(.*)$", path.read_text(), re.MULTILINE) for path in UNITS}
    for worker in WORKERS:
        number = ", number %i" if (DEPLOY / "systemd" / f"agency-{worker.name}@.service").exists() else ""
        queues = f"queue{'s' if len(worker.queues) > 1 else ''} {', '.join(worker.queues)}"
        assert descriptions[worker.name] == [f"Agency system: {queues}{number}"]


def test_every_unit_is_started_again_and_is_no_superuser_s() -> None:
    common = unit_of(DEPLOY / "systemd" / "agency-.service.d" / "common.conf")
    assert (common["Restart"], common["User"], common["NoNewPrivileges"]) == ("always", "agency", "true")
    assert all(service.get("restart") for service in COMPOSE["services"].values())


def test_the_image_holds_the_product_and_no_tool() -> None:
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]
    copied = set(re.findall(r"^COPY ([\w.]+) \S+$", DOCKERFILE, re.MULTILINE))
    assert copied == {*packages, "templates", "manage.py"} - {"tools"}
    assert re.findall(r"lock/\w+\.txt", DOCKERFILE) == ["lock/production.txt"]
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert allowed == copied | {"lock/production.txt"}
    assert "\nUSER agency\n" in DOCKERFILE
    assert "\nHEALTHCHECK " in DOCKERFILE


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_understands_the_units(tmp_path: Path) -> None:
    """The programs are those of this checkout; a wrong line in the common part is found as well."""

    def complaints(broken: str) -> str:
        folder = tmp_path / (broken or "whole")
        shutil.copytree(DEPLOY / "systemd", folder)
        for path in folder.rglob("*.*"):
            if path.is_file():
                own = path.read_text().replace("/srv/agency/venv/bin", str(Path(sys.executable).parent))
                path.write_text(f"{own}\n[Service]\n{broken}=1\n" if broken and path.suffix == ".conf" else own)
        units = [str(path) for path in folder.glob("*.service")]
        environment = {"SYSTEMD_UNIT_PATH": f"{folder}:", "PATH": "/usr/bin:/bin"}
        found = subprocess.run(
            ["systemd-analyze", "verify", *units], env=environment, capture_output=True, text=True, check=False
        )
        return found.stderr

    assert complaints("") == ""
    assert "NoSuchSetting" in complaints("NoSuchSetting")


def test_an_installation_compiles_all_of_the_code_since_no_process_of_it_may_write_there() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "tools", "benchmarks"}
    page = (ROOT / "docs" / "operations" / "install.md").read_text().replace("/srv/agency/", "")
    commands = re.findall(r"python -m compileall -q (.+)$", f"{DOCKERFILE}\n{page}", re.MULTILINE)
    assert [set(folders.split()) for folders in commands] == [packages] * 3  # image, installation, upgrade
