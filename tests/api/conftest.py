"""Callers of the test surfaces, each from an address of its own, so that tests share no counter."""

import secrets
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from config import redis
from tests.api.surfaces.surfaces import Holder, SurfaceState, surface_state

AGENCY = "/api/agency/v1"
WORKSPACE = "/api/v1"


@pytest.fixture(autouse=True)
def _test_surfaces_as_urls(settings: Any) -> None:
    settings.ROOT_URLCONF = "tests.api.surfaces.urls"


@pytest.fixture(autouse=True)
def state() -> Iterator[SurfaceState]:
    surface_state.open, surface_state.looked_up = True, 0
    yield surface_state
    surface_state.holders.clear()
    surface_state.prepared.clear()


def an_address() -> str:
    return f"2001:db8:{secrets.randbits(16):x}:{secrets.randbits(16):x}::1"


@pytest.fixture
def address() -> str:
    return an_address()


@pytest.fixture
def holder() -> Holder:
    return Holder(secrets.token_hex(8))


@pytest.fixture
def agency_key(holder: Holder, state: SurfaceState) -> str:
    return state.issue_key("svc_ag_", holder)


@pytest.fixture
def workspace_key(holder: Holder, state: SurfaceState) -> str:
    return state.issue_key("svc_", holder)


@pytest.fixture
def anonymous(address: str) -> Client:
    return Client(REMOTE_ADDR=address)


@pytest.fixture
def agency(address: str, agency_key: str) -> Client:
    return Client(REMOTE_ADDR=address, headers={"x-api-key": agency_key})


@pytest.fixture
def workspace(address: str, workspace_key: str) -> Client:
    return Client(REMOTE_ADDR=address, headers={"x-api-key": workspace_key})


@pytest.fixture
def send(agency: Client) -> Callable[..., Any]:
    """Post bytes to the echo as they are, as JSON unless said otherwise."""

    def post(body: bytes, content_type: str = "application/json", **extra: Any) -> Any:
        return agency.post(f"{AGENCY}/echo", data=body, content_type=content_type, **extra)

    return post


@pytest.fixture
def _redis_away(settings: Any) -> Iterator[None]:
    settings.REDIS_URL = "unix:///nonexistent/redis.sock?db=0"
    redis.client.cache_clear()
    redis.circuit_breaker.close()
    yield
    redis.client.cache_clear()
    redis.circuit_breaker.close()
