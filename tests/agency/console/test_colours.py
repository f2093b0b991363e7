"""Every text of the consoles stands out from its ground, by the measure of WCAG 2.2 AA, light and dark.

For whoever asks for more contrast it does by that of AAA.
"""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as search
from hypothesis import strategies as st

from agency.services.colours import SURFACES
from tests.agency.console.browsers import a_browser
from tests.sizes import size

CSS_FOLDER = Path(__file__).parents[3] / "templates/static/console"
CSS = (CSS_FOLDER / "tokens.css").read_text()
TEXTS = 4.5
EDGES = 3.0
MORE = {TEXTS: 7.0, EDGES: 4.5}
SCHEMES = [(theme, contrast) for theme in ("light", "dark") for contrast in ("usual", "more")]
# Lines and edges of buttons: they are no texts, and need not stand out any more.
THIN = {"line", "button-edge"}
every_scheme = pytest.mark.parametrize(("theme", "wanted"), SCHEMES)
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


def tokens(css: str, theme: str) -> dict[str, str]:
    """The colours of a sheet in a theme."""
    found = re.findall(r"--([\w-]+): light-dark\(([^,]+), ([^)]+\)?)\);", css)
    return {name: light if theme == "light" else dark for name, light, dark in found}


def scheme(theme: str, wanted: str = "usual", css: str = CSS) -> dict[str, str]:
    usual, more = css.split("@media (prefers-contrast: more)", 1)
    return tokens(usual, theme) | (tokens(more, theme) if wanted == "more" else {})


def brightness(colour: str) -> float:
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((brightness(one), brightness(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def least_of(least: float, wanted: str) -> float:
    return MORE[least] if wanted == "more" else least


@every_scheme
@pytest.mark.parametrize(("text", "ground", "least"), PAIRS)
def test_colours_stand_out(theme: str, wanted: str, text: str, ground: str, least: float) -> None:
    shown = scheme(theme, wanted)
    assert contrast(shown[text], shown[ground]) >= least_of(least, "usual" if ground in THIN else wanted)


# What follows from an agency's colour -----------------------------------------------------------------------

# Texts and lines that stand on what an agency's colour has changed, or have changed themselves.
OF_A_BRAND = [
    *PAIRS,
    *(("accent-strong", ground, TEXTS) for ground in ("ground", "surface", "raised", "sunken", "accent-soft")),
    *((text, "accent-soft", TEXTS) for text in ("text", "muted", "danger", "good", "warning")),
    ("on-button", "button", TEXTS),
    ("on-button", "button-strong", TEXTS),
]
HARD_ONES = ["#ffcc00", "#ffff00", "#ffffff", "#fefefe", "#000000", "#010101", "#808080", "#777777", "#757575"]
MANY = ["#ff0000", "#00ff00", "#0000ff", "#00ffff", "#ff00ff", "#1f6feb", "#df2771", "#2e9c7e", "#fef9c3", "#001122"]
colours = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")


def brand_tokens(colour: str, theme: str, wanted: str = "usual") -> dict[str, str]:
    """The tokens of a page with an agency's stylesheet, in which `var(--edge)` is resolved."""
    sheet = a_browser().get(f"/brand/{colour.removeprefix('#')}.css").content.decode()
    own, base = scheme(theme, wanted, sheet), scheme(theme, wanted)
    edge = {"transparent": own["button"], "var(--edge)": base["edge"]}[own["button-edge"]]
    return base | own | {"button-edge": edge}


def too_faint(colour: str, theme: str, wanted: str) -> list[str]:
    shown = brand_tokens(colour, theme, wanted)
    pairs = [*OF_A_BRAND, *(("button-edge", ground, EDGES) for ground in ("ground", "surface"))]
    return [
        f"{colour}, {theme}, {wanted}: {text} on {ground}"
        for text, ground, least in pairs
        if contrast(shown[text], shown[ground])
        < (least if ground == "line" or text == "button-edge" else least_of(least, wanted))
    ]


@every_scheme
@pytest.mark.parametrize("colour", HARD_ONES + MANY)
def test_every_token_of_a_brand_stands_out(colour: str, theme: str, wanted: str) -> None:
    assert too_faint(colour, theme, wanted) == []


@every_scheme
@given(colour=colours)
@search(max_examples=size("values", "colours"))
def test_so_it_does_whatever_the_colour_is(colour: str, theme: str, wanted: str) -> None:
    assert too_faint(colour, theme, wanted) == []
    assert wanted == "more" or brand_tokens(colour, theme)["button"] == colour


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_hue_stays_where_the_lightness_moves(theme: str) -> None:
    """A yellow agency gets no blue links: of red, green and blue the order stays as it is."""
    for colour in ("#ffcc00", "#0d9488", "#e11d48", "#7c3aed"):
        for name in ("accent", "accent-strong", "accent-soft"):
            shown = brand_tokens(colour, theme)[name]
            shares = [[int(one[at : at + 2], 16) for at in (1, 3, 5)] for one in (colour, shown)]
            largest = [max(share) for share in shares]
            assert shares[0].index(largest[0]) in [at for at, part in enumerate(shares[1]) if largest[1] - part < 12]


def test_the_grounds_are_those_of_the_stylesheet() -> None:
    for theme, ground in SURFACES.items():
        shown = scheme(theme)
        assert set(ground.grounds) == {shown[name] for name in ("ground", "surface", "raised", "sunken")}
        assert ground.texts == (shown["text"], shown["muted"])


def test_every_colour_is_a_token_and_every_token_stands_in_one_place() -> None:
    """A part of a page shows either theme by its `color-scheme` alone."""
    sheets = {sheet.relative_to(CSS_FOLDER.parent): sheet.read_text() for sheet in CSS_FOLDER.parent.rglob("*.css")}
    assert {str(name): css for name, css in sheets.items() if re.search(r"^\s*--[\w-]+:", css, re.MULTILINE)} == {
        "console/tokens.css": CSS
    }
    used = {name for css in sheets.values() for name in re.findall(r"var\(--([\w-]+)", css)}
    assert used <= set(re.findall(r"--([\w-]+):", CSS))
    assert not [name for name, css in sheets.items() if css != CSS and re.search(r"#[0-9a-f]{3,8}\b", css)]


def test_every_stylesheet_says_in_which_layer_it_is() -> None:
    assert CSS.index("@layer tokens, base, components, pages;") < CSS.index("@layer tokens {")
    for sheet in CSS_FOLDER.parent.rglob("*.css"):
        if sheet.name == "support.css":
            continue  # stands beside Django's own styles, which have no layers and would win over any
        rules = re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL)
        rules = rules.replace("@layer tokens, base, components, pages;", "").strip()
        own = sheet.stem if sheet.parent == CSS_FOLDER and sheet.stem in ("tokens", "base", "components") else "pages"
        assert rules.startswith(f"@layer {own} {{"), sheet
        assert rules.endswith("}")
