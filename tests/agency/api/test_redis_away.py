"""What the surfaces do without Redis: everything but counting."""

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from agency.models import Event
from config import redis
from tests.tenants import Api, Tenant, a_new_customer
from workspaces.subaccounts.models import Workspace

# The quickest of so many answers is what Redis costs; the others may have waited for the processor.
TIMES = 5


@pytest.fixture(params=["refuses connections", "never answers"])
def _redis_away(request: pytest.FixtureRequest, settings: Any) -> Iterator[None]:
    """Redis refuses connections, or takes them and says nothing."""
    frozen = socket.create_server(("127.0.0.1", 0))
    port = 1 if request.param == "refuses connections" else frozen.getsockname()[1]
    settings.REDIS_URL = f"redis://127.0.0.1:{port}/0"
    redis.client.cache_clear()
    redis.breaker.close()
    yield
    frozen.close()
    redis.client().close()
    redis.client.cache_clear()
    redis.breaker.close()


pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_redis_away")]


def test_calls_past_the_limit_are_let_through(a: Tenant, settings: Any) -> None:
    settings.AGENCY_KEY_LIMIT = 1
    answers = [a.api.get("/plans") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert all("X-RateLimit-Limit" not in answer.headers for answer in answers)


def test_unknown_keys_are_still_refused_and_the_workspace_surface_still_answers(a: Tenant, anonymous: Api) -> None:
    assert anonymous.get("/plans").status_code == 401
    assert a.workspace_api.get("/channels").status_code == 200


def test_a_write_answers_within_half_a_second_more_and_its_event_is_there(a: Tenant) -> None:
    took = []
    for _ in range(TIMES):
        redis.breaker.close()
        started = time.monotonic()
        response = a.api.post("/workspaces", a_new_customer())
        took.append(time.monotonic() - started)
        assert response.status_code == 201
    assert Workspace.objects.of(a.agency).count() == TIMES
    assert Event.objects.filter(agency=a.agency, name="workspace.created", fanned_out_at=None).count() == TIMES
    assert min(took) < 1.0


def test_that_redis_is_away_is_logged_without_saying_where_it_is(a: Tenant, caplog: pytest.LogCaptureFixture) -> None:
    a.api.get("/plans")
    assert ["redis is away, going on without it" in record.getMessage() for record in caplog.records].count(True) == 1
    assert "127.0.0.1" not in caplog.text
