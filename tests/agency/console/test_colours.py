"""Every text of the consoles stands out from its ground, by the measure of WCAG 2.2 AA, light and dark."""

import re
from pathlib import Path

import pytest

CSS = (Path(__file__).parents[3] / "templates/static/console/console.css").read_text()
TEXTS = 4.5
EDGES = 3.0
PAIRS = [
    *(
        (text, ground, TEXTS)
        for text in ("text", "muted", "accent")
        for ground in ("ground", "surface", "raised", "sunken")
    ),
    ("accent", "accent-soft", TEXTS),
    ("muted", "accent-soft", TEXTS),
    ("on-accent", "accent", TEXTS),
    ("on-accent", "accent-strong", TEXTS),
    ("surface", "danger", TEXTS),
    ("surface", "danger-strong", TEXTS),
    ("danger", "surface", TEXTS),
    ("danger", "danger-soft", TEXTS),
    ("good", "good-soft", TEXTS),
    ("warning", "warning-soft", TEXTS),
    ("text", "line", TEXTS),
    ("edge", "surface", EDGES),
    ("edge", "ground", EDGES),
]


def tokens(css: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", css))


def scheme(name: str) -> dict[str, str]:
    light, dark = CSS.split("@media (prefers-color-scheme: dark)", 1)
    return tokens(light) if name == "light" else tokens(light) | tokens(dark[: dark.index("/* Ground")])


def brightness(colour: str) -> float:
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground", "least"), PAIRS)
def test_colours_stand_out(name: str, text: str, ground: str, least: float) -> None:
    colours = scheme(name)
    high, low = sorted((brightness(colours[text]), brightness(colours[ground])), reverse=True)
    assert (high + 0.05) / (low + 0.05) >= least
