"""Agencies themselves: names, suspension, the fleet-wide switches."""

import pytest
from django.utils.timezone import now

from agency.actors import SYSTEM, Actor
from agency.models import ActivityEntry, Agency, Switch
from agency.services import change_agency, create_agency, restore_agency, set_switch, suspend_agency
from agency.services.agencies import AgencyNameTaken
from tests.factories import AgencyFactory

SUPPORT = Actor(kind="staff", id="7", label="support@example.com", address="127.0.0.1", request_id="r-1")
pytestmark = pytest.mark.django_db


def entries(action: str) -> list[ActivityEntry]:
    return list(ActivityEntry.objects.filter(action=action))


@pytest.mark.parametrize("again", ["Straße", "STRASSE", " straße "])
def test_a_name_belongs_to_one_agency_whatever_its_case(again: str) -> None:
    AgencyFactory.create(name="Straße")
    with pytest.raises(AgencyNameTaken):
        create_agency(name=again, by=SUPPORT)


def test_an_agency_is_renamed_and_its_limit_changed() -> None:
    agency = AgencyFactory.create()
    change_agency(agency=agency, name=" Renamed ", max_sub_accounts=5, by=SUPPORT)
    agency = Agency.objects.get(pk=agency.pk)
    assert (agency.name, agency.name_key, agency.max_sub_accounts) == ("Renamed", "renamed", 5)
    assert [entry.actor_label for entry in entries("agency.changed")] == ["support@example.com"]


def test_an_agency_is_not_renamed_to_a_name_that_is_taken() -> None:
    first, second = AgencyFactory.create(), AgencyFactory.create()
    with pytest.raises(AgencyNameTaken):
        change_agency(agency=second, name=first.name.upper(), max_sub_accounts=None, by=SUPPORT)
    assert entries("agency.changed") == []


def test_suspending_and_restoring_happen_once() -> None:
    agency = AgencyFactory.create()
    first = now()
    assert suspend_agency(agency=agency, reason="unpaid", now=first, by=SUPPORT)
    assert not suspend_agency(agency=agency, reason="again", now=now(), by=SUPPORT)
    assert (agency.is_active, agency.suspended_at, agency.suspension_reason) == (False, first, "unpaid")
    assert restore_agency(agency=agency, by=SUPPORT)
    assert not restore_agency(agency=agency, by=SUPPORT)
    assert (agency.is_active, agency.suspended_at, agency.suspension_reason) == (True, None, "")
    (suspended,), (_,) = entries("agency.suspended"), entries("agency.restored")
    assert (suspended.agency_id, suspended.details, suspended.actor_kind) == (agency.pk, {"reason": "unpaid"}, "staff")
    assert (suspended.target_kind, suspended.target_id) == ("agency", str(agency.uuid))


def test_a_switch_is_kept_with_its_reason_and_recorded_for_the_whole_fleet() -> None:
    set_switch(name="agency_api", enabled=False, reason="incident", by=SUPPORT)
    set_switch(name="agency_api", enabled=True, reason="over", by=SUPPORT)
    switch = Switch.objects.get(name="agency_api")
    assert (switch.enabled, switch.reason) == (True, "over")
    (off,) = entries("switch.turned_off")
    assert (off.agency_id, off.details) == (None, {"reason": "incident"})
    assert len(entries("switch.turned_on")) == 1


def test_rows_name_themselves_in_lists() -> None:
    agency = AgencyFactory.create(name="Named")
    switch = set_switch(name="workspace_api", enabled=False, reason="", by=SYSTEM)
    assert (str(agency), str(switch)) == ("Named", "Workspace API: off")
    assert str(ActivityEntry.objects.filter(agency=agency).get()) == "system: agency.created Named"
