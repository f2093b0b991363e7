"""Gives the frames of tests memory in one piece, so that calls do not ask the kernel for memory again and again.

Python 3.11 and later keep the frames of calls in pieces of 16 KiB. A piece is returned to the kernel when its first
frame ends. At the end of a piece, each call in a loop then costs two system calls and a page fault. The tests need a
fifth less of the processor's time without them (https://github.com/python/cpython/issues/142183). A frame that asks for
much gets a larger piece. The frames above it use the rest of that piece.
"""

import pytest

# Needs a piece of 512 KiB, and leaves half of it to the frames above. The kernel gives only what is used.
FRAME_SLOTS = 33_000


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | pytest.ExitCode | None:
    """Run all that pytest does above a frame of `FRAME_SLOTS` slots of 8 bytes."""
    plugins = config.pluginmanager
    others = plugins.subset_hook_caller("pytest_cmdline_main", [plugins.get_plugin(__name__)])
    status: int | pytest.ExitCode | None = others(config=config)
    return status


pytest_cmdline_main.__code__ = pytest_cmdline_main.__code__.replace(co_stacksize=FRAME_SLOTS)
