"""Every operation of both documents, with whatever its schema allows and a little more: no fault, nothing undocumented.

`make fuzz` tries many examples of its own each time; the usual run a few, the same ones in every run.
"""

import os
from collections.abc import Iterator
from contextlib import closing
from functools import lru_cache
from typing import Any

import orjson
import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection
from hypothesis import HealthCheck, given
from hypothesis import settings as bounds
from hypothesis import strategies as st
from schemathesis.checks import CHECKS, load_all_checks, not_a_server_error

from config.api.documents import building
from config.wsgi import application
from tests import furnished
from tests.database.undoing import undone
from tests.document.recording import documented_path
from tests.routes import AGENCY, ID, ROUTES, _own_name, api_of, ids_of
from tests.sizes import FULL_SIZE, size
from tests.tenants import Tenant

a, b = furnished.a, furnished.b

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", size("documents", "requests of each operation")))
IS_SEARCH = FULL_SIZE or "FUZZ_EXAMPLES" in os.environ
PUBLISHED = "config.urls"
OPERATIONS = [(route, method) for route, methods in ROUTES.items() for method in methods]
pytestmark = pytest.mark.filterwarnings("ignore")

load_all_checks()
PROMISES = [
    not_a_server_error,
    *CHECKS.get_by_names(["status_code_conformance", "content_type_conformance", "response_schema_conformance"]),
]


def served(environ: Any, start_response: Any) -> list[bytes]:
    """Answer a request and end it as a server does, which closes its files too; schemathesis leaves it open."""
    response: Any = application(environ, start_response)
    with closing(response):
        return [b"".join(response)]


@lru_cache(maxsize=2)
def schema_of(document: Any) -> Any:
    schema = schemathesis.openapi.from_dict(orjson.loads(building.written(document, PUBLISHED)))
    schema.app = served
    return schema


def operation_of(route: str, method: str) -> Any:
    document = building.AGENCY if route.startswith(AGENCY) else building.WORKSPACE
    return schema_of(document)[documented_path(route)][method]


@pytest.fixture
def _one_connection(a: Tenant) -> Iterator[None]:
    """Let the application keep the test's transaction open, however long a busy machine takes between two requests.

    A server's request begins and ends by closing connections that are not as they should be, as one within a
    transaction is; Django's own test client leaves that out too.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
    ends = request_started, request_finished
    for end in ends:
        end.disconnect(close_old_connections)
    yield
    for end in ends:
        end.connect(close_old_connections)


@pytest.mark.usefixtures("_one_connection")
@pytest.mark.parametrize(("route", "method"), OPERATIONS, ids=[f"{method} {route}" for route, method in OPERATIONS])
def test_an_operation_keeps_what_its_document_promises(a: Tenant, route: str, method: str, settings: Any) -> None:
    settings.AGENCY_KEY_LIMIT = settings.ADDRESS_LIMIT = 10**6
    operation, ids, key = operation_of(route, method), ids_of(a), str(api_of(route, a).key)
    own = {name: str(ids[_own_name(route, name)]) for name in ID.findall(route)}

    @bounds(max_examples=EXAMPLES, derandomize=not IS_SEARCH, suppress_health_check=[*HealthCheck])
    # The simplest case, which comes first, is about the tenant's own things.
    @given(case=operation.as_strategy(), is_own=st.just(True) | st.booleans())
    def keeps_its_promises(case: Any, is_own: bool) -> None:
        if is_own:
            case.path_parameters = {**(case.path_parameters or {}), **own}
        with undone():
            case.call_and_validate(headers={"x-api-key": key}, checks=PROMISES)

    keeps_its_promises()
