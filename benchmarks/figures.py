"""The figures that a benchmark measures, compared with their limits."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of the table. `ratio` is relative to the run's base line; `at_most` is the limit for `measured`."""

    name: str
    measured: float
    unit: str
    ratio: float | None = None
    at_most: float | None = None
    note: str = ""

    @property
    def holds(self) -> bool | None:
        return None if self.at_most is None else self.measured <= self.at_most

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "holds": self.holds}


def table(title: str, figures: list[Figure]) -> str:
    """Write figures as aligned lines."""
    width = max(len(figure.name) for figure in figures)
    return "\n".join([title, *(_line(figure, width) for figure in figures), ""])


def _line(figure: Figure, width: int) -> str:
    ratio = "" if figure.ratio is None else f"{figure.ratio:.2f} x"
    measured = f"{_number(figure.measured)} {figure.unit:<2}"
    return f"  {figure.name:<{width}} {measured} {ratio:>8}  {_comparison(figure)}{figure.note}".rstrip()


def _comparison(figure: Figure) -> str:
    if figure.holds is None:
        return ""
    return f"{'holds' if figure.holds else 'DOES NOT HOLD'}: at most {figure.at_most:g} {figure.unit}".rstrip() + "  "


def _number(value: float) -> str:
    return f"{value:>9,.0f}" if value >= 1000 else f"{value:>9.2f}"
