"""Pauses Python's garbage collection while the product starts.

A start makes a million objects, and nearly all of them stay. Scanning them again and again took a third of the start.
"""

import gc


def pause_collection() -> None:
    """Stop collecting. The caller must call `resume_collection` later."""
    gc.disable()


def resume_collection() -> None:
    """Collect as usual, but never scan the objects made during the start. Forked processes share them."""
    gc.freeze()
    gc.enable()
