"""Python looks for cycles of garbage once the product has started, not while it does.

A start makes a million objects, nearly all of which stay. Looking through them again and again took a third of it.
"""

import gc


def pause_collection() -> None:
    """Collect nothing from here on; the caller ends with `resume_collection`."""
    gc.disable()


def resume_collection() -> None:
    """Collect as usual, and never look at what the start has made; processes that are forked share it."""
    gc.freeze()
    gc.enable()
