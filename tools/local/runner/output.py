"""Puts the name of its process before each line of output."""

import os
import sys
from collections.abc import Sequence
from typing import IO

COLOURS = (36, 33, 32, 35, 34, 31)
READ_AT_ONCE = 65536


def prefixes(names: Sequence[str]) -> dict[str, bytes]:
    """Give each name a prefix: of one width, in a colour of its own when a person looks on."""
    width = max(map(len, names), default=0)
    found = {name: f"{name:<{width}} | " for name in names}
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        for number, name in enumerate(names):
            found[name] = f"\x1b[{COLOURS[number % len(COLOURS)]}m{found[name]}\x1b[0m"
    return {name: text.encode() for name, text in found.items()}


class Lines:
    """Reads a process's output as it comes and passes on whole lines."""

    def __init__(self, pipe: IO[bytes], prefix: bytes) -> None:
        self.pipe, self.prefix, self.rest = pipe, prefix, b""
        os.set_blocking(pipe.fileno(), False)

    def pass_on(self) -> bool:
        """Write what has come; say whether there can be more."""
        try:
            came = os.read(self.pipe.fileno(), READ_AT_ONCE)
        except BlockingIOError:
            return True
        *whole, self.rest = (self.rest + (came or b"\n")).split(b"\n")
        write(b"".join(self.prefix + line + b"\n" for line in whole if line.strip()))
        return bool(came)


def write(text: bytes) -> None:
    """Write to the terminal; a terminal that is gone stops nobody."""
    try:
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()
    except OSError:
        return
