"""Prints the output of processes, with the name of the process before each line."""

import os
import sys
from collections.abc import Sequence
from typing import IO

COLOURS = (36, 33, 32, 35, 34, 31)
READ_AT_ONCE = 65536


def prefixes(names: Sequence[str]) -> dict[str, bytes]:
    """Give each name a prefix. All have the same width; on a terminal each has its own colour."""
    width = max(map(len, names), default=0)
    found = {name: f"{name:<{width}} | " for name in names}
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        for number, name in enumerate(names):
            found[name] = f"\x1b[{COLOURS[number % len(COLOURS)]}m{found[name]}\x1b[0m"
    return {name: text.encode() for name, text in found.items()}


class Lines:
    """Reads a process's output as it comes and writes whole lines."""

    def __init__(self, pipe: IO[bytes], prefix: bytes) -> None:
        self.pipe, self.prefix, self.rest = pipe, prefix, b""
        os.set_blocking(pipe.fileno(), False)

    def pass_on(self) -> bool:
        """Write the output that has come; say whether more can follow."""
        try:
            came = os.read(self.pipe.fileno(), READ_AT_ONCE)
        except BlockingIOError:
            return True
        *whole, self.rest = (self.rest + (came or b"\n")).split(b"\n")
        write(b"".join(self.prefix + line + b"\n" for line in whole if line.strip()))
        return bool(came)


def write(text: bytes) -> None:
    """Write to the terminal. If the terminal is gone, the system runs on."""
    try:
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()
    except OSError:
        return
