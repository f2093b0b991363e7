"""The measurement of the product's files, on small trees with one fault each."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tools.structure import LIMITS, find_circle, main, measure, read_modules

SOUND = {"shop/__init__.py": "", "shop/orders.py": "def order() -> int:\n" + "    x = 1\n" * 45 + "    return x\n"}


def write(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def figures(root: Path) -> dict[str, float]:
    return {name: value for name, (value, _) in measure(read_modules(root, ["shop"])).items()}


def test_the_figures_of_a_small_tree(tmp_path: Path) -> None:
    importer = "from typing import Any\n\nfrom shop.orders import order\n\nx: Any = order()  # type: ignore[misc]\n"
    found = figures(write(tmp_path, SOUND | {"shop/pages/list.py": importer, "shop/migrations/0001.py": "x = 1\n"}))
    assert dict(zip(LIMITS, found.values(), strict=True)) == found
    assert list(found.values()) == [3, 52, 17, 2, 3.8, 0, 0, 0, 0, 1.92, 1]


@pytest.mark.parametrize(
    ("name", "files", "place"),
    [
        ("files of more than 400 lines", {"shop/long.py": "x = 1\n" * 401}, "shop/long.py (401)"),
        (
            "functions of more than 50 lines",
            {"shop/long.py": "def long() -> None:\n" + "    x = 1\n" * 50},
            "shop/long.py:1 long (51)",
        ),
        (
            "files of 40 lines or less that one other imports",
            {"shop/small.py": "x = 1\n" * 40, "shop/user.py": "import shop.small\n" + "y = 2\n" * 41},
            "shop/small.py",
        ),
        (
            "files in an import circle",
            {
                "shop/one.py": "import shop.two\n" + "x = 1\n" * 41,
                "shop/two.py": "from shop import one\n" + "y = 2\n" * 41,
            },
            "shop.one",
        ),
    ],
    ids=["long file", "long function", "small file", "circle"],
)
def test_a_fault_is_named(tmp_path: Path, name: str, files: Mapping[str, str], place: str) -> None:
    sound = measure(read_modules(write(tmp_path, SOUND), ["shop"]))[name]
    assert sound == (0, [])
    value, places = measure(read_modules(write(tmp_path, files), ["shop"]))[name]
    assert value > 0
    assert place in places


def test_an_import_for_types_is_no_circle(tmp_path: Path) -> None:
    for_types = "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import shop.one\n"
    files = {"shop/one.py": "import shop.two\n", "shop/two.py": for_types}
    assert find_circle(read_modules(write(tmp_path, files), ["shop"])) == []


def test_a_figure_that_does_not_hold_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sound = {f"shop/m{number}.py": "x = 1\n" * 130 for number in range(2)}
    assert main(write(tmp_path, sound), ["shop"]) == 0
    assert main(write(tmp_path, {"shop/long.py": "x = 1\n" * 401}), ["shop"]) == 1
    printed = capsys.readouterr()
    assert "files of more than 400 lines: 1 (at most 0)" in printed.out
    assert "shop/long.py (401)" in printed.err
