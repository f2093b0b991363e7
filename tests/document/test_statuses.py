"""An operation declares the statuses that it can be brought to answer, and no other."""

from collections.abc import Hashable
from typing import Any

import pytest

from config.api.documents import building
from tests import furnished
from tests.database.emptying import forget_counters
from tests.database.undoing import undone
from tests.document.calls import Call
from tests.document.provoking import OF_THEIR_OWN, kind_of, own_statuses, shared_refusals
from tests.document.recording import documented_path, validator_of
from tests.route_walk import is_full_size
from tests.routes import AGENCY, ROUTES, WORKSPACE, Case
from tests.tenants import Tenant

pytestmark = pytest.mark.slow

a = furnished.a

CASES = [(route, method, case) for route, methods in ROUTES.items() for method, case in methods.items()]


def a_call(route: str, method: str, case: Case) -> Call:
    """Give a call of a tenant that remembers nothing that was undone."""
    forget_counters()
    return Call.of(furnished.taken("furnished", 0), route, method, case)


@pytest.mark.parametrize("surface", [AGENCY, WORKSPACE])
def test_what_an_operation_declares_is_what_it_answers(a: Tenant, settings: Any, surface: str) -> None:
    """What the base of the surface answers is asked of the first operation of each kind.

    tests/test_routes.py shows that each operation leaves that to the base.
    """
    shared: dict[Hashable, set[int]] = {}
    wrong = {}
    for route, method, case in CASES:
        if not route.startswith(surface):
            continue
        with undone():
            call = a_call(route, method, case)
            own = set(own_statuses(call))
        kind = call.name if is_full_size() else kind_of(call)
        if kind not in shared:
            with undone():
                shared[kind] = set(shared_refusals(a_call(route, method, case), settings))
        declared = {int(status) for status in call.operation["responses"]}
        if own | shared[kind] != declared:
            wrong[call.name] = {"answered": own | shared[kind], "declared": declared}
    assert wrong == {}


def test_every_operation_is_in_the_table_of_routes() -> None:
    documents = (building.AGENCY, building.WORKSPACE)
    documented = {key for document in documents for key in validator_of(document).operations}
    assert documented == {(method, documented_path(route)) for route, method, _ in CASES}


def test_what_is_provoked_on_its_own_belongs_to_an_operation(a: Tenant) -> None:
    names = {Call(a, route, method, case, {}, None).name for route, method, case in CASES}
    assert names >= OF_THEIR_OWN.keys()
