"""What the console's home shows: figures and first steps, which each app adds in `AppConfig.ready()`."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agency.console.navigation import Words
from agency.models import Agency


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number of the agency; `query` (`?status=…`) narrows the page that it leads to."""

    label: Words
    value: int
    url_name: str
    query: str = ""
    note: Words = ""
    order: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One of the first things to do; done as soon as `is_done` says so."""

    title: Words
    text: Words
    url_name: str
    action: Words
    is_done: Callable[[Agency], bool]
    order: int = 50
    for_owners: bool = False


FigureSource = Callable[[Agency], Iterable[Figure]]
_sources: list[FigureSource] = []
_steps: list[Step] = []


def register_figures(source: FigureSource) -> None:
    _sources.append(source)


def register_step(step: Step) -> None:
    _steps.append(step)


def figures_of(agency: Agency) -> list[Figure]:
    return sorted((figure for source in _sources for figure in source(agency)), key=lambda figure: figure.order)


def steps_of(agency: Agency) -> list[tuple[Step, bool]]:
    """Give the first steps with whether each is done; nothing once all of them are."""
    steps = [(step, step.is_done(agency)) for step in sorted(_steps, key=lambda step: step.order)]
    return [] if all(done for _, done in steps) else steps
