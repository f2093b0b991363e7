"""Makes Python's garbage collections rare while a worker process is at work."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

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
