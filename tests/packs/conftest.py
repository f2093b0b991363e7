"""A library of a few automations, and an agency that uses it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.factories import an_agency_key
from tests.packs.client import PackClient
from tests.packs.small_library import write_library
from tests.tenants import Api, Tenant


@pytest.fixture(scope="session")
def small_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_library(tmp_path_factory.mktemp("library"))


@pytest.fixture(autouse=True)
def _library(settings: Any, small_library: Path) -> None:
    settings.PACK_LIBRARY = small_library


@pytest.fixture
def retire(settings: Any, tmp_path: Path) -> Callable[..., None]:
    """Retire automations of the library: `retire("salons-booking")`."""

    def retire(*items: str) -> None:
        settings.PACK_LIBRARY = write_library(tmp_path / "-".join(items), without=items)

    return retire


@pytest.fixture
def packs(a: Tenant) -> PackClient:
    """The packs of agency `a`."""
    return PackClient(a)


@pytest.fixture
def copier(a: Tenant) -> Api:
    """Agency `a` with a key that may copy."""
    return a.api.with_key(an_agency_key(a.agency, name="Copier", can_copy=True)[1])
