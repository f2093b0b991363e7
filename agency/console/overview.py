"""What the console's first page shows: figures and first steps."""

from agency.models import Agency
from agency.pages.registry import Figure, FirstStep, figure_sources, first_steps


def figures_of(agency: Agency) -> list[Figure]:
    sources = sorted(figure_sources, key=lambda source: source.order)
    return [figure for source in sources for figure in source.figures(agency)]


def steps_of(agency: Agency) -> list[tuple[FirstStep, bool]]:
    """Give the first steps with whether each is done; nothing once all of them are."""
    steps = [(step, step.is_done(agency)) for step in sorted(first_steps, key=lambda step: step.order)]
    return [] if all(done for _, done in steps) else steps
