"""An operation declares the statuses that it can be brought to answer, and no other."""

from typing import Any

import pytest

from config.api.documents.building import AGENCY, WORKSPACE
from tests import furnished
from tests.document.calls import Call
from tests.document.provoking import OF_THEIR_OWN, provoked_statuses
from tests.document.recording import documented_path, validator_of
from tests.routes import ROUTES, Case
from tests.tenants import Tenant

a = furnished.a

CASES = [(route, method, case) for route, methods in ROUTES.items() for method, case in methods.items()]


@pytest.mark.parametrize(("route", "method", "case"), CASES, ids=[f"{method} {route}" for route, method, _ in CASES])
def test_what_an_operation_declares_is_what_it_answers(
    a: Tenant, settings: Any, route: str, method: str, case: Case
) -> None:
    call = Call.of(a, route, method, case)
    assert set(provoked_statuses(call, settings)) == {int(status) for status in call.operation["responses"]}


def test_every_operation_is_in_the_table_of_routes() -> None:
    documented = {key for document in (AGENCY, WORKSPACE) for key in validator_of(document).operations}
    assert documented == {(method, documented_path(route)) for route, method, _ in CASES}


def test_what_is_provoked_on_its_own_belongs_to_an_operation(a: Tenant) -> None:
    names = {Call(a, route, method, case, {}, None).name for route, method, case in CASES}
    assert names >= OF_THEIR_OWN.keys()
