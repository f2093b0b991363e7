"""An agency's keys: issued once, revoked for good."""

from datetime import timedelta

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM, Actor
from agency.models import ActivityEntry
from agency.services import issue_agency_key, revoke_agency_key
from tests.factories import AgencyFactory, an_agency_key

OWNER = Actor(kind="user", id="3", label="owner@example.com", address="127.0.0.1", request_id="r-1")
pytestmark = pytest.mark.django_db


def test_a_key_may_carry_the_copy_ability_and_usually_does_not() -> None:
    agency = AgencyFactory.create()
    assert issue_agency_key(agency=agency, name="Copies", can_copy=True, by=OWNER)[0].can_copy
    assert not issue_agency_key(agency=agency, name="Reads", can_copy=False, by=OWNER)[0].can_copy


def test_issuing_is_recorded_without_the_key() -> None:
    key, plaintext = issue_agency_key(agency=AgencyFactory.create(), name=" Shop ", can_copy=True, by=OWNER)
    entry = ActivityEntry.objects.get(action="agency_key.created")
    assert (entry.target_id, entry.target_name, entry.actor_label) == (str(key.uuid), "Shop", "owner@example.com")
    assert entry.details == {"prefix": plaintext[:12], "can_copy": True}
    assert str(key) == f"Shop ({plaintext[:12]}…)"


def test_no_two_keys_are_alike() -> None:
    agency = AgencyFactory.create()
    assert len({an_agency_key(agency)[1] for _ in range(50)}) == 50


def test_revoking_twice_keeps_the_first_time() -> None:
    key, _ = an_agency_key(AgencyFactory.create())
    first = now()
    assert revoke_agency_key(key=key, now=first, by=SYSTEM)
    assert not revoke_agency_key(key=key, now=first + timedelta(hours=1), by=SYSTEM)
    assert key.revoked_at == first
    assert ActivityEntry.objects.filter(action="agency_key.revoked").count() == 1
