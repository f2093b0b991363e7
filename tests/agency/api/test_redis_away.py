"""What the surfaces do without Redis: everything but counting."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from agency.models import Event
from config import redis
from tests.tenants import Api, Tenant, a_new_customer
from workspaces.subaccounts.models import Workspace

TIMES = 3


@pytest.fixture(params=["refuses connections", "never answers"])
def _redis_away(
    request: pytest.FixtureRequest, settings: Any, monkeypatch: pytest.MonkeyPatch, redis_seconds: float
) -> Iterator[None]:
    """Redis refuses connections, or takes them and says nothing."""
    monkeypatch.setattr(redis, "TIMEOUT_SECONDS", redis_seconds)
    frozen = socket.create_server(("127.0.0.1", 0))
    port = 1 if request.param == "refuses connections" else frozen.getsockname()[1]
    settings.REDIS_URL = f"redis://127.0.0.1:{port}/0"
    redis.client.cache_clear()
    redis.circuit_breaker.close()
    yield
    frozen.close()
    redis.client().close()
    redis.client.cache_clear()
    redis.circuit_breaker.close()


pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("_redis_away")]


def test_calls_past_the_limit_are_let_through(a: Tenant, settings: Any) -> None:
    settings.AGENCY_KEY_LIMIT = 1
    answers = [a.api.get("/plans") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert all("X-RateLimit-Limit" not in answer.headers for answer in answers)


def test_unknown_keys_are_still_refused_and_the_workspace_surface_still_answers(a: Tenant, anonymous: Api) -> None:
    assert anonymous.get("/plans").status_code == 401
    assert a.workspace_api.get("/channels").status_code == 200


def test_a_write_waits_once_for_a_fifth_of_a_second_and_its_event_is_there(
    a: Tenant, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever it needs of Redis after that is not asked for: the break lasts longer than the test."""
    options = redis.client().connection_pool.connection_kwargs
    assert (options["socket_timeout"], options["socket_connect_timeout"]) == (0.2, 0.2)
    monkeypatch.setattr(redis, "BREAK_SECONDS", 3_600.0)
    for number in range(1, TIMES + 1):
        redis.circuit_breaker.close()
        assert a.api.post("/workspaces", a_new_customer()).status_code == 201
        waits = [record for record in caplog.records if record.getMessage().startswith("redis is away")]
        assert len(waits) == number
    assert Workspace.objects.of(a.agency).count() == TIMES
    assert Event.objects.filter(agency=a.agency, name="workspace.created", fanned_out_at=None).count() == TIMES


def test_that_redis_is_away_is_logged_without_saying_where_it_is(a: Tenant, caplog: pytest.LogCaptureFixture) -> None:
    a.api.get("/plans")
    assert ["redis is away, going on without it" in record.getMessage() for record in caplog.records].count(True) == 1
    assert "127.0.0.1" not in caplog.text
