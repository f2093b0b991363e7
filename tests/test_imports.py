"""Every module can be imported by the Python that runs the tests, without a warning."""

from importlib import import_module
from pathlib import Path

import pytest

from tools.local import ROOT

PRODUCT = ("config", "agency", "workspaces", "webhooks", "packs", "channelconnect", "broadcasts", "tools")


def modules(package: str) -> list[str]:
    files = (path.relative_to(ROOT).with_suffix("") for path in Path(ROOT, package).rglob("*.py"))
    return sorted(".".join(file.parts).removesuffix(".__init__") for file in files if file.name != "__main__")


@pytest.mark.parametrize("package", PRODUCT)
def test_every_module_can_be_imported(package: str) -> None:
    found = modules(package)
    assert found
    for module in found:
        import_module(module)
