"""Charts that the server draws as SVG from numbers. A table beside each chart repeats the numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt
from typing import Any, Final

from broadcasts.pages.words import BAR, RECIPIENTS

WIDTH: Final = 1_000
HEIGHT: Final = 160
MOST_BARS: Final = 120
GAP: Final = 2


@dataclass(frozen=True, slots=True)
class Share:
    """A segment of a bar, which starts at `x`. The whole bar is 1,000 wide."""

    status: str
    label: Any
    number: int
    x: float
    width: float

    @property
    def percent(self) -> str:
        share = self.width / WIDTH * 100
        return "<1" if 0 < share < 1 else f"{share:.0f}"


@dataclass(frozen=True, slots=True)
class Bar:
    """A wave in a chart. `height` grows with the root of its number, so that small waves stay visible."""

    at: datetime
    number: int
    x: float
    y: float
    width: float
    height: float


def shares_of(counts: Mapping[str, int]) -> list[Share]:
    """Return the share of recipients in each status, in the bar's order."""
    total = sum(max(0, counts.get(status, 0)) for status in BAR)
    shares, x = [], 0.0
    for status in BAR:
        number = max(0, counts.get(status, 0))
        width = number / total * WIDTH if total else 0.0
        shares.append(Share(status, RECIPIENTS[status], number, round(x, 2), round(width, 2)))
        x += width
    return shares


def bars_of(waves: Sequence[tuple[datetime, int]]) -> list[Bar]:
    """Return bars for waves, earliest first; at most `MOST_BARS`."""
    some = sorted(waves)[:MOST_BARS]
    if not some:
        return []
    each = WIDTH / len(some)
    highest = sqrt(max(number for _, number in some)) or 1
    bars = []
    for position, (at, number) in enumerate(some):
        height = round(max(3.0, sqrt(number) / highest * (HEIGHT - 10)), 1)
        width = round(min(each - GAP, 60.0), 2)
        x = round(position * each + (each - width) / 2, 2)
        bars.append(Bar(at, number, x, round(HEIGHT - height, 1), width, height))
    return bars
