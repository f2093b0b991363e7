"""`a` and `b` of modules that do much the same very often: copies of agencies that are there for all of their tests."""

from copy import deepcopy

import pytest

from tests.emptying import forget_counters
from tests.tenants import Tenant


@pytest.fixture
def a(furnished: tuple[Tenant, Tenant], db: None) -> Tenant:
    """The agency that a test is about, as nobody has counted its calls."""
    forget_counters()
    return deepcopy(furnished[0])


@pytest.fixture
def b(furnished: tuple[Tenant, Tenant], db: None) -> Tenant:
    """Another agency, which must neither see nor be seen."""
    return deepcopy(furnished[1])
