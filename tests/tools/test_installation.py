"""The page that installs the product on a host is run, as far as a machine without systemd can."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.operations.test_settings import PRODUCTION
from tools.installation import ALIKE, PAGE, blocks, settings_of_postgresql, settings_of_valkey, without_repetitions
from tools.local import ROOT

TEXT = PAGE.read_text()
RUN = "\n".join(blocks())
COMPOSE_TEXT = (ROOT / "deploy" / "compose.yaml").read_text()
COMPOSE = yaml.safe_load(COMPOSE_TEXT)

UNITS = {path.stem.replace("@", "@1") for path in (ROOT / "deploy" / "systemd").glob("agency-*.service")}


def assigned(text: str) -> set[str]:
    return set(re.findall(r"^([A-Z_]+)=", text, re.MULTILINE))


def here_document(path: str) -> str:
    [found] = re.findall(rf"^cat >>? {re.escape(path)} <<'?END'?\n(.*?)^END$", RUN, re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.mark.slow
def test_every_command_of_the_page_ends_well(migrated_dump: Path | None) -> None:
    """In its short form: `make installation` runs what the page has twice a second time, and migrates."""
    dump = ["--dump", str(migrated_dump)] if migrated_dump else []
    done = subprocess.run(
        [sys.executable, "-m", "tools.installation", "--short", *dump],
        cwd=ROOT,
        env=own_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-6_000:]
    assert '"name": "Bright Reach"' in done.stdout
    assert "postgres_up 1.0" in done.stdout
    assert "Everything turns." in done.stdout


def own_environment() -> dict[str, str]:
    """The machine's own variables: a run of tests has servers of its own, and the page starts others."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "USER", "LANG") if name in os.environ}


def test_every_block_is_run_or_said_not_to_be() -> None:
    kinds = re.findall(r"^```(\w+)$", TEXT, re.MULTILINE)
    assert set(kinds) == {"sh", "text"}
    assert len(blocks()) == kinds.count("sh") >= 12


def test_the_short_form_leaves_no_command_out() -> None:
    lines = [line for block in without_repetitions(blocks()) for line in block.splitlines()]
    assert set(lines) == set(RUN.splitlines())
    assert sum(line.startswith("agency-manage migrate") for line in lines) == 1


def test_every_unit_is_started_and_started_anew() -> None:
    for verb in ("enable --now", "restart"):
        lines = re.findall(rf"^systemctl {verb} (agency-.*)$", RUN, re.MULTILINE)
        assert {name for line in lines for name in line.split()} == UNITS


def kind_of(unit: str) -> tuple[bool, list[str]]:
    """Whether there are several of a unit, and the words of its command but for names, queues and numbers."""
    path = ROOT / "deploy" / "systemd" / f"{unit.partition('@')[0]}{'@' if '@' in unit else ''}.service"
    [command] = re.findall(r"^ExecStart=(.*)$", path.read_text(), re.MULTILINE)
    words = shlex.split(command)
    after = {"-n", "-Q", "-c"}
    return "@" in unit, [word for before, word in zip(["", *words], words, strict=False) if before not in after]


def test_the_short_form_starts_a_unit_of_each_kind() -> None:
    """Beside the web processes, beat and the exporter, which are alone in their kind."""
    assert set(ALIKE) < UNITS
    started = [kind_of(unit) for unit in UNITS - {*ALIKE}]
    assert [unit for unit in ALIKE if kind_of(unit) not in started] == []


def test_the_settings_hold_all_that_a_production_needs() -> None:
    needed = set(PRODUCTION) - {"ENVIRONMENT", "MEDIA_DIRECTORY"}  # the units name it
    assert needed <= assigned(here_document("/etc/agency/environment"))
    assert "TRUSTED_PROXIES" in assigned(here_document("/etc/agency/environment"))
    assert set(re.findall(r"\$\{([A-Z_]+):\?\}", COMPOSE_TEXT)) <= assigned(here_document("/srv/agency/.env"))


def test_the_servers_are_asked_for_the_same_as_in_the_compose_file() -> None:
    postgres = [part for part in COMPOSE["services"]["postgres"]["command"] if "=" in part]
    lines = settings_of_postgresql(RUN).replace(" = ", "=").splitlines()
    assert [line for line in postgres if line not in lines] == []
    command = " ".join(COMPOSE["services"]["redis"]["command"])
    valkey = settings_of_valkey(RUN)
    assert valkey == {"appendonly": "yes", "maxmemory-policy": "noeviction"}
    assert [name for name, value in valkey.items() if f"--{name} {value}" not in command] == []


def test_the_proxy_s_variables_and_the_network_s_gateway_are_those_of_the_files() -> None:
    caddy = set(re.findall(r"\{\$([A-Z_]+)\}", (ROOT / "deploy" / "Caddyfile").read_text()))
    [given] = re.findall(r"^printf '\[Service\]\\nEnvironment=(.*?)\\n'", RUN, re.MULTILINE)
    assert set(re.findall(r"([A-Z_]+)=", given)) == caddy
    [network] = COMPOSE["networks"]["default"]["ipam"]["config"]
    first = re.sub(r"^\$\{NETWORK:-(.*)\.0/24\}$", r"\1.1/32", network["subnet"])
    assert f"TRUSTED_PROXIES={first}\n" in here_document("/srv/agency/.env")
