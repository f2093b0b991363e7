"""Puts the name of its process before each line of output."""

import os
import sys
from collections.abc import Sequence
from typing import IO

COLOURS = (36, 33, 32, 35, 34, 31)
READ_AT_ONCE = 65536
LONGEST_LINE = 1_000_000


def is_coloured() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


class Prefixes:
    """Names of one width, each in a colour of its own when a person looks on."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.width = max((len(name) for name in names), default=0)
        self.coloured = is_coloured()

    def of(self, name: str) -> bytes:
        text = f"{name:<{self.width}} | "
        if self.coloured and name in self.names:
            text = f"\x1b[{COLOURS[self.names.index(name) % len(COLOURS)]}m{text}\x1b[0m"
        return text.encode()


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
        *whole, self.rest = (self.rest + came).split(b"\n")
        if self.rest and (not came or len(self.rest) > LONGEST_LINE):
            whole, self.rest = [*whole, self.rest], b""
        write(b"".join(self.prefix + line + b"\n" for line in whole if line.strip()))
        return bool(came)


def write(text: bytes) -> None:
    """Write to the terminal; a terminal that is gone stops nobody."""
    try:
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()
    except OSError:
        return
