"""Calls in tests ask the kernel for no memory, however deep they begin."""

import resource
import sys

from tests.plugins.data_stack import FRAME_SLOTS

# More than 16 KiB of frames: one of these depths is the end of a piece.
DEPTHS = 150
CALLS = 200


def called() -> None:
    pass


# Larger than the frames that lead to it, so that it cannot fit where another of them would not.
called.__code__ = called.__code__.replace(co_stacksize=64)


def page_faults_at(depth: int) -> int:
    """Count the page faults of `CALLS` calls from a frame that is `depth` frames further up."""
    if depth:
        return page_faults_at(depth - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(CALLS):
        called()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_no_depth_makes_each_call_a_page_fault() -> None:
    assert max(page_faults_at(depth) for depth in range(DEPTHS)) < CALLS


def test_a_frame_below_each_test_holds_the_memory_of_all_frames() -> None:
    frame, slots = sys._getframe(), []
    while frame.f_back:
        frame = frame.f_back
        slots.append(frame.f_code.co_stacksize)
    assert FRAME_SLOTS in slots
