"""Runs the commands of docs/operations/install.md on this machine: `python -m tools.installation`.

Every path of the page leads into a temporary folder, which is removed afterwards. PostgreSQL and Valkey are those of
tools/local, with the page's settings. There is no systemd: a stand-in starts each unit's command with the unit's
variables. Only the blocks marked `sh` are run; the others need a fresh Debian.

The short form (`--short`) runs no command twice, and starts one unit of each kind with fewer processes: the others'
commands differ from that of `agency-worker` or `agency-dispatcher@1` in names and numbers alone. A restart only ends
the unit, because no later command of the page needs it. With `--dump FILE`, the dump of a migrated database, the page's
database begins as that database.
"""

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import cache_from_source
from pathlib import Path

from tools.local import ROOT, STATE
from tools.local.parent_death import parent_death_signal
from tools.local.runner.web import free_port
from tools.local.servers.account import servers_account
from tools.local.servers.postgres import Postgres
from tools.local.servers.starting import socket_folder
from tools.local.servers.valkey import Valkey
from tools.local.state import throwaway

PAGE = ROOT / "docs" / "operations" / "install.md"
FOLDERS = ("/srv/agency", "/etc", "/var", "/run/agency", "/usr/local/bin")
LEFT_OUT = ("tests", "docs", "benchmarks")
END_SECONDS = 60
VARIABLE = "INSTALLATION"  # the environment variable that gives the folder to the stand-in programs
SHORT = "INSTALLATION_IS_SHORT"
REPEATED = ("agency-manage ", "/srv/agency/venv/bin/pip ", "/srv/agency/venv/bin/python -m compileall ")
# The units that the short form starts none of, since it starts another worker, with a number and without one.
ALIKE = ("agency-mail", "agency-housekeeping", "agency-sender@1", "agency-calls@1")
# How the short form ends these units' commands. Three tasks of the worker never end; the others take turns.
SMALLER = {"agency-web": ("--workers", "1"), "agency-worker": ("-c", "6")}
STAND_INS = {
    # The machine may have no other user, and none is needed.
    "runuser": 'shift 3; exec env PGHOST="$SOCKETS" PGPORT=5432 PGUSER=app "$@"',
    "install": """
for word; do
    shift
    case $word in -o|-g) skip=1 ;; *) [ "$skip" ] && skip= || set -- "$@" "$word" ;; esac
done
exec /usr/bin/install "$@\"""",
    "python3": 'case "$1 $2" in "-m venv") exec ln -s "$PREFIX" "$3" ;; *) exec "$PYTHON" "$@" ;; esac',
    "systemctl": 'exec "$PYTHON" -m tools.installation systemctl "$@"',
    "createdb": """
"$PROGRAMS/createdb" "$@" || exit
case "$DUMP $*" in
    /*" agency") exec "$PROGRAMS/pg_restore" --exit-on-error --no-owner --role=agency --dbname=agency "$DUMP" ;;
esac""",
    # These data are thrown away, so they need not reach the disk.
    "pg_basebackup": 'exec "$PROGRAMS/pg_basebackup" --no-sync "$@"',
    "pg_dump": 'exec "$PROGRAMS/pg_dump" --no-sync "$@"',
}


def blocks() -> list[str]:
    """Give the blocks of commands that are run."""
    return re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def without_repetitions(commands: list[str]) -> list[str]:
    """Leave out commands that an earlier block has run, word for word."""
    seen, kept = set[str](), list[str]()
    for block in commands:
        lines = [line for line in block.splitlines(keepends=True) if line not in seen]
        seen |= {line for line in lines if line.startswith(REPEATED)}
        kept.append("".join(lines))
    return kept


def settings_of_postgresql(text: str) -> str:
    """Give the lines that the page puts into PostgreSQL's folder."""
    [found] = re.findall(r"agency\.conf <<'END'\n(.*?)^END$", text, re.MULTILINE | re.DOTALL)
    return str(found)


def settings_of_valkey(text: str) -> dict[str, str]:
    [found] = re.findall(r"valkey\.conf <<'END'\n(.*?)^END$", text, re.MULTILINE | re.DOTALL)
    return dict(line.split(" ", 1) for line in found.splitlines())


def moved(text: str, folder: Path, ports: dict[str, int]) -> str:
    """Replace paths by paths in the folder, and ports by free ones."""
    text = re.sub(rf"(?<![\w./])({'|'.join(FOLDERS)})(?=[/\s\"';]|$)", rf"{folder}\1", text, flags=re.MULTILINE)
    for port, free in ports.items():
        text = re.sub(rf"(?<=[ :]){port}\b", str(free), text)
    return text.replace("User=agency", f"User={os.environ.get('USER') or 'root'}")


def copy_code(folder: Path, ports: dict[str, int]) -> None:
    """Copy the code to the page's place; units and programs get the paths and ports of this run."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, folder / "srv/agency" / name
        if Path(name).parts[0] in LEFT_OUT or not source.is_file():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if name.startswith(("deploy/systemd", "deploy/agency-manage")):
            target.write_text(moved(source.read_text(), folder, ports))
        else:
            shutil.copy2(source, target)
            copy_compiled(source, target)


def copy_compiled(source: Path, target: Path) -> None:
    """Copy a module's compiled form too; it is valid for a copy with the same size and time."""
    compiled = Path(cache_from_source(source))
    if source.suffix == ".py" and compiled.exists():
        copied = Path(cache_from_source(target))
        copied.parent.mkdir(exist_ok=True)
        shutil.copy2(compiled, copied)


def stand_ins(folder: Path) -> None:
    (folder / "bin").mkdir()
    for name, line in STAND_INS.items():
        path = folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)


@contextmanager
def servers(state: Path, text: str) -> Iterator[tuple[Postgres, Valkey]]:
    """Run both servers with the page's settings; Valkey gets them by `CONFIG SET` once it runs."""
    import redis

    account = servers_account()
    with socket_folder(state, account) as sockets:
        postgres = Postgres(state, sockets, account, durable=False)
        valkey = Valkey(state, sockets, account, durable=False)
        postgres.prepare()
        with (postgres.folder / "postgresql.conf").open("a") as file:
            file.write(settings_of_postgresql(text))
        try:
            postgres.start()
            valkey.start()
            with redis.Redis.from_url(valkey.url()) as client:
                for name, value in settings_of_valkey(text).items():
                    client.config_set(name, value)
            yield postgres, valkey
        finally:
            valkey.stop()
            postgres.stop()


def run_page(state: Path, *, is_short: bool, dump: Path | None) -> int:
    """Run all blocks in order; give the status of the first command that fails, or 0."""
    commands = without_repetitions(blocks()) if is_short else blocks()
    folder, ports = state / "host", {"8000": free_port(0), "9187": free_port(0)}
    for path in (
        "etc/postgresql/17/main/conf.d",
        "etc/valkey",
        "run/agency",
        "var/lib/agency",
        "usr/local/bin",
        "logs",
        "pids",
    ):
        (folder / path).mkdir(parents=True)
    copy_code(folder, ports)
    stand_ins(folder)
    text = moved("\n".join(f"set -x\n{block}\nset +x" for block in commands), folder, ports)
    with servers(state, text) as (postgres, valkey):
        url = f"postgresql://agency@/agency?host={postgres.sockets}&port=5432"
        text = text.replace("postgresql:///agency?host=/run/postgresql", url)
        text = text.replace("redis://127.0.0.1:6379/0", valkey.url()).replace(
            "pip install", "pip install --quiet --dry-run"
        )
        environment = {
            "PATH": f"{folder}/bin:{folder}/usr/local/bin:{postgres.programs.folder}:{os.environ['PATH']}",
            "HOME": str(folder),
            "PYTHON": sys.executable,
            "PREFIX": sys.prefix,
            "PYTHONPATH": str(ROOT),
            "SOCKETS": str(postgres.sockets),
            "PROGRAMS": str(postgres.programs.folder),
            "DUMP": str(dump or ""),
            VARIABLE: str(folder),
            SHORT: "1" if is_short else "",
        }
        command = ["bash", "-euo", "pipefail", "-c", text]
        try:
            return subprocess.run(
                [*parent_death_signal(), *command], cwd=folder, env=environment, check=False
            ).returncode
        finally:
            kill(*(folder / "pids").iterdir())


def systemctl(folder: Path, words: list[str]) -> int:
    """Do what systemd would do for the product's units: start them, or end all of them and start them anew."""
    names = [name for name in words[1:] if name.startswith("agency-")] if words[0] in ("enable", "restart") else []
    if os.environ[SHORT]:
        names = [name for name in names if name not in ALIKE]
    paths = [folder / "pids" / name for name in names]
    late = end(*(path for path in paths if path.exists()))
    if words[0] == "enable" or not os.environ[SHORT]:
        for path in paths:
            path.write_text(str(start(folder, path.name)))
    return 1 if late else 0


def start(folder: Path, name: str) -> int:
    """Start a unit's command with its variables; give the process's id."""
    unit, _, number = name.partition("@")
    units = folder / "etc/systemd/system"
    own = (units / f"{unit}{'@' if number else ''}.service").read_text().replace("%i", number).replace("%%", "%")
    common = (units / "agency-.service.d/common.conf").read_text()
    [command] = re.findall(r"^ExecStart=(.*)$", own, re.MULTILINE)
    [given] = re.findall(r"^Environment=(.*)$", common, re.MULTILINE)
    [path] = re.findall(r"^EnvironmentFile=(.*)$", common, re.MULTILINE)
    [place] = re.findall(r"^WorkingDirectory=(.*)$", common, re.MULTILINE)
    smaller = SMALLER.get(unit, ()) if os.environ[SHORT] else ()
    variables = dict(word.split("=", 1) for word in shlex.split(given))
    variables |= dict(re.findall(r"^([A-Z_]+)=(.*)$", Path(path).read_text(), re.MULTILINE))
    with (folder / "logs" / name).open("ab") as log:
        process = subprocess.Popen(
            [*shlex.split(command), *smaller],
            cwd=place,
            env={"PATH": "/usr/bin:/bin", **variables},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    return process.pid


def end(*paths: Path) -> bool:
    """End units as systemd does: signal each unit's first process, all units at once, then kill their groups.

    Says whether a unit did not end in time and had to be killed.
    """
    pids = [int(path.read_text()) for path in paths]
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + END_SECONDS
    while time.monotonic() < until and any(map(is_at_work, pids)):
        time.sleep(0.05)
    late = any(map(is_at_work, pids))
    kill(*paths)
    for path in paths:
        path.unlink()
    return late


def kill(*paths: Path) -> None:
    """Kill units' processes with all processes that they have started."""
    for path in paths:
        with suppress(ProcessLookupError):
            os.killpg(int(path.read_text()), signal.SIGKILL)


def is_at_work(pid: int) -> bool:
    """Say whether a process still runs. An ended process stays as a zombie until its parent reads its status."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["systemctl"]:
        return systemctl(Path(os.environ[VARIABLE]), arguments[1:])
    parser = argparse.ArgumentParser(prog="tools.installation")
    parser.add_argument("--short", action="store_true", help="run no command twice")
    parser.add_argument("--dump", type=Path, help="a migrated database, to begin with")
    chosen = parser.parse_args(arguments)
    with throwaway(STATE.with_name(f"{STATE.name}-installation")) as state:
        status = run_page(state, is_short=chosen.short, dump=chosen.dump)
        for log in sorted((state / "host/logs").iterdir()) if status else []:
            print(f"--- {log.name}", *log.read_text().splitlines()[-20:], sep="\n", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
