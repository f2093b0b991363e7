"""Pauses Python's garbage collection while the product starts, and makes it rare while a worker is at work."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# A start makes a million objects, and nearly all of them stay. Scanning them again and again took a third of the
# start.


def pause_collection() -> None:
    """Stop collecting. The caller must call `resume_collection` later."""
    gc.disable()


def resume_collection() -> None:
    """Collect as usual, but never scan the objects made during the start. Forked processes share them."""
    gc.freeze()
    gc.enable()


# A row of work makes some tens of tuples, none of them part of a cycle. By default Python scans every 700 objects.
NEW_OBJECTS = 50_000


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect rarely, and do not scan the objects that were there before."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
