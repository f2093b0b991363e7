"""A process that has loaded all of the product, and runs each order in a child of its own.

So that processes that fork one child after another neither load it again nor copy it when they collect garbage, and
all tests of a worker share what loading costs. `python -m tests.processes.preloaded` reads an order from each line of
its input, and answers each with a line. While an order runs that is `ended_by` a signal, others may begin and end.
"""

import ctypes
import gc
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, BinaryIO, NamedTuple

from tests.processes.starting import stop
from tools.local import ROOT
from tools.local.parent_death import parent_death_signal

LIMIT_SECONDS = 600.0
END = None
PARENT_DEATH_SIGNAL = 1  # see prctl(2)


class Broken(Exception):
    """An order failed; the text is what its process wrote about it."""


class Order(NamedTuple):
    """The module whose `main` is called with these arguments, under other values of some settings.

    The process of an order that is `ended_by` a signal runs until the line `END`.
    """

    module: str
    arguments: tuple[str, ...] = ()
    settings: Mapping[str, object] = {}
    ended_by: int = 0


class Preloaded:
    """Starts the process when it is first needed. Of orders that run beside each other the last one ends first."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, order: Order) -> str:
        """Give what `main` wrote. Raises `Broken`."""
        return self._answer(order, status=0)

    @contextmanager
    def killed_at_end(self, order: Order) -> Iterator[int]:
        """Have `main` run until the block ends, and kill its process then. Raises `Broken` if it had ended before.

        Gives the id of the process.
        """
        with self._running(order._replace(ended_by=signal.SIGKILL), status=signal.SIGKILL) as pid:
            yield pid

    @contextmanager
    def asked_to_end(self, order: Order) -> Iterator[int]:
        """Have `main` run until the block ends, and ask its process to end then. Raises `Broken` if it does not well.

        Gives the id of the process.
        """
        with self._running(order._replace(ended_by=signal.SIGTERM), status=0) as pid:
            yield pid

    @contextmanager
    def _running(self, order: Order, *, status: int) -> Iterator[int]:
        pid = int(self._answer(order, status=0))
        try:
            yield pid
        finally:
            self._answer(END, status=status, module=order.module)

    def _answer(self, order: Order | None, *, status: int, module: str = "") -> str:
        process = self._process = self._process or self._start()
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(order._asdict() if order else END).encode() + b"\n")
        process.stdin.flush()
        if not select.select([process.stdout], [], [], LIMIT_SECONDS)[0]:
            self.end()
            raise Broken(f"{order.module if order else module} came to no end")
        answer = json.loads(process.stdout.readline() or "{}")
        if answer.get("status") != status:
            raise Broken(str(answer)[-4_000:])
        return str(answer["output"])

    def _start(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [*parent_death_signal(), sys.executable, "-m", "tests.processes.preloaded"],
            cwd=ROOT,
            env=dict(self._environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def end(self) -> None:
        if self._process is not None:
            assert self._process.stdin
            assert self._process.stdout
            stop(self._process)
            self._process.stdin.close()
            self._process.stdout.close()
            self._process = None


def load() -> None:
    """Load the product as a whole, with its routes and every view."""
    import django

    django.setup()
    from django.urls import reverse
    from django.utils.translation import gettext

    reverse("console:notifications")
    gettext("Notifications")
    gc.collect()
    gc.freeze()


def run_in_child(order: Order) -> dict[str, Any]:
    """Run an order in a child; give its status and what it wrote."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as faults:
        pid = os.fork()
        if pid == 0:
            _run(order, output, faults)
        if order.ended_by:
            os.setpgid(pid, pid)
            write({"status": 0, "output": str(pid)})
            serve_until_end()
            (os.killpg if order.ended_by == signal.SIGKILL else os.kill)(pid, order.ended_by)
        _, status = os.waitpid(pid, 0)
        for file in (output, faults):
            file.seek(0)
        return {"status": status, "output": output.read().decode(), "faults": faults.read().decode()[-2_000:]}


def _run(order: Order, output: BinaryIO, faults: BinaryIO) -> None:
    """Become the process of an order; its own children, where they fail, end here too."""
    from django.conf import settings

    status = 1
    try:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)
        os.dup2(output.fileno(), 1)
        os.dup2(faults.fileno(), 2)
        for name, value in order.settings.items():
            setattr(settings, name, value)
        import_module(order.module).main(*order.arguments)
        sys.stdout.flush()
        status = 0
    except BaseException:  # noqa: BLE001  # the outermost frame of this process
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def serve_until_end() -> None:
    for line in iter(sys.stdin.readline, ""):
        asked = json.loads(line)
        if asked is END:
            return
        write(run_in_child(Order(**{**asked, "arguments": tuple(asked["arguments"])})))


def write(answer: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    load()
    from tests.database.limits import set_longer_limits  # it needs the loaded product

    set_longer_limits()
    serve_until_end()
