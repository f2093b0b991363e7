"""A library of a few automations, and an agency that uses it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.factories import an_agency_key
from tests.packs import shelf
from tests.packs.at_hand import Packs
from tests.tenants import Api, Tenant


@pytest.fixture(scope="session")
def small_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shelf.write(tmp_path_factory.mktemp("library"))


@pytest.fixture(autouse=True)
def _library(settings: Any, small_library: Path) -> None:
    settings.PACK_LIBRARY = small_library


@pytest.fixture
def retire(settings: Any, tmp_path: Path) -> Callable[..., None]:
    """Retire automations of the library: `retire("salons-booking")`."""

    def retire(*items: str) -> None:
        settings.PACK_LIBRARY = shelf.write(tmp_path / "-".join(items), without=items)

    return retire


@pytest.fixture
def packs(a: Tenant) -> Packs:
    """The packs of agency `a`, over the API."""
    return Packs(a.api)


@pytest.fixture
def copier(a: Tenant) -> Api:
    """Agency `a` with a key that may copy."""
    return a.api.with_key(an_agency_key(a.agency, name="Copier", can_copy=True)[1])
