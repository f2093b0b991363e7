"""Sends until it is killed: for `tests.processes.preloaded`."""

from contextlib import AbstractContextManager

from channelconnect.sending.loop import run_sender
from tests.processes.preloaded import Order, Preloaded
from tools.sandbox import RunningSandbox


def killed_sender(preloaded: Preloaded, meta: RunningSandbox) -> AbstractContextManager[int]:
    """A process that sends to the sandbox, and is killed at the end of the block."""
    return preloaded.killed_at_end(Order(__name__, settings=meta.variables))


def main() -> None:
    run_sender(should_stop=lambda: False)
