"""A key's last-used time: stamped on every authenticated request, exact to the second."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import AgencyKey
from agency.services import revoke_agency_key, suspend_agency
from tests import furnished
from tests.tenants import Tenant

a, b = furnished.a_with_customer, furnished.b_with_customer

LONG_AGO = timedelta(days=2)


@pytest.fixture
def stale(a: Tenant) -> Tenant:
    """An agency whose key was last used two days ago."""
    AgencyKey.objects.filter(pk=a.key.pk).update(last_used_at=now() - LONG_AGO)
    return a


def used_at(tenant: Tenant) -> datetime:
    stamp = AgencyKey.objects.get(pk=tenant.key.pk).last_used_at
    assert stamp is not None
    return stamp


def second(moment: datetime) -> datetime:
    return moment.replace(microsecond=0)


def test_a_new_key_has_not_been_used(a: Tenant) -> None:
    assert AgencyKey.objects.get(pk=a.key.pk).last_used_at is None


def test_the_stamp_is_the_second_of_the_request(a: Tenant) -> None:
    before = second(now())
    a.api.get("/plans")
    assert before <= used_at(a) <= second(now())
    assert used_at(a).microsecond == 0


@pytest.mark.parametrize("ago", [timedelta(seconds=1), timedelta(minutes=1), timedelta(days=400)])
def test_each_request_of_a_later_second_moves_it_on(a: Tenant, ago: timedelta) -> None:
    before = second(now())
    AgencyKey.objects.filter(pk=a.key.pk).update(last_used_at=before - ago)
    a.api.get("/plans")
    assert used_at(a) >= before


REQUESTS: dict[str, tuple[int, str, str, bytes]] = {
    "a refused write": (422, "POST", "/workspaces", b"{}"),
    "an unreadable body": (400, "POST", "/workspaces", b"{"),
    "nothing there": (404, "GET", "/workspaces/8d1f3b1e-52b4-4c8e-9a3e-2f6c7d8e9f10", b""),
    "no such path": (404, "GET", "/nothing", b""),
    "a wrong method": (405, "DELETE", "/plans", b""),
}


@pytest.mark.parametrize(("status", "method", "path", "body"), REQUESTS.values(), ids=REQUESTS.keys())
def test_a_request_that_fails_is_stamped_too(stale: Tenant, status: int, method: str, path: str, body: bytes) -> None:
    before = second(now())
    assert stale.api.call(method, path, body).status_code == status
    assert used_at(stale) >= before


def test_a_request_over_the_limit_is_stamped_too(stale: Tenant, settings: Any) -> None:
    settings.AGENCY_KEY_LIMIT = 0
    before = second(now())
    assert stale.api.get("/plans").status_code == 429
    assert used_at(stale) >= before


def test_the_key_of_a_suspended_agency_is_known_and_stamped(stale: Tenant) -> None:
    suspend_agency(agency=stale.agency, reason="", now=now(), by=SYSTEM)
    before = second(now())
    assert stale.api.get("/plans").status_code == 403
    assert used_at(stale) >= before


def test_a_revoked_key_is_stamped_no_more(stale: Tenant) -> None:
    revoke_agency_key(key=stale.key, now=now(), by=SYSTEM)
    before = used_at(stale)
    stale.api.get("/plans")
    assert used_at(stale) == before


def test_only_the_key_that_was_used_is_stamped(a: Tenant, b: Tenant) -> None:
    a.api.get("/plans")
    assert AgencyKey.objects.get(pk=b.key.pk).last_used_at is None


def test_a_second_request_within_the_second_writes_nothing(a: Tenant) -> None:
    """The stamp says the same already, so the row is left alone (and two requests never wait for each other)."""
    ahead = second(now()) + timedelta(seconds=5)
    AgencyKey.objects.filter(pk=a.key.pk).update(last_used_at=ahead)
    a.api.get("/plans")
    assert used_at(a) == ahead
