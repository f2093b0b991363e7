"""A workspace whose first channel brings no starter pack, so that a test holds only what it made."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _no_library(settings: Any, tmp_path: Path) -> None:
    settings.PACK_LIBRARY = tmp_path
