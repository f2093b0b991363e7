"""Measures in rounds: each round runs every variant once, so that a disturbance of the machine hits all of them."""

import gc
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

Measured = TypeVar("Measured")

ROUNDS = 7


def interleave(variants: Mapping[str, Callable[[], Measured]], *, rounds: int = ROUNDS) -> dict[str, list[Measured]]:
    """Measure each variant in each round. The order rotates from round to round, and the first round only warms up."""
    found: dict[str, list[Measured]] = {name: [] for name in variants}
    names = list(variants)
    for number in range(rounds + 1):
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            gc.collect()
            measured = variants[name]()
            if number:
                found[name].append(measured)
    return found


def median_ratio(values: Sequence[float], base: Sequence[float]) -> float:
    """Give the median of the rounds' ratios, which is steadier than a ratio of medians."""
    return statistics.median(value / below for value, below in zip(values, base, strict=True))


def percentile(values: Iterable[float], share: float) -> float:
    """Give the value that a `share` (0…1) of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
