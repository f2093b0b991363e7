"""Fleet-wide switches act at once and leave a reason."""

import pytest
from django.test import Client

from agency.actors import SYSTEM
from agency.models import ActivityEntry, Agency, Switch
from agency.services import issue_agency_key

pytestmark = pytest.mark.django_db


def test_every_switch_is_listed_even_if_nobody_has_touched_it(support: Client) -> None:
    content = support.get("/admin/agency/switch/").content.decode()
    assert Switch.objects.count() == 0
    assert all(str(label) in content for label in Switch.Name.labels)


def test_a_surface_is_switched_off_and_on_again(support: Client, agency: Agency) -> None:
    _, key = issue_agency_key(agency=agency, name="Key", can_copy=False, by=SYSTEM)
    page = "/admin/agency/switch/agency_api/change/"
    assert support.get(page).status_code == 200
    assert support.post(page, {"reason": "maintenance"}).status_code == 302
    answer = Client().get("/api/agency/v1/plans", headers={"x-api-key": key})
    assert (answer.status_code, answer.json()) == (503, {"message": "The reseller API is currently disabled."})
    assert support.post(page, {"enabled": "on", "reason": "done"}).status_code == 302
    assert Client().get("/api/agency/v1/plans", headers={"x-api-key": key}).status_code == 200
    entries = ActivityEntry.objects.filter(target_kind="switch").order_by("id")
    recorded = [(entry.action, entry.details["reason"], entry.actor_kind) for entry in entries]
    assert recorded == [("switch.turned_off", "maintenance", "staff"), ("switch.turned_on", "done", "staff")]


def test_a_change_needs_a_reason_of_its_own(support: Client) -> None:
    page = "/admin/agency/switch/workspace_api/change/"
    support.post(page, {"enabled": "on", "reason": "old reason"})
    assert b'value="old reason"' not in support.get(page).content
    assert support.post(page, {"reason": ""}).status_code == 200
    assert Switch.objects.get(pk="workspace_api").enabled


def test_there_are_no_other_switches(support: Client) -> None:
    assert support.get("/admin/agency/switch/nonsense/change/").status_code == 302
    assert support.post("/admin/agency/switch/nonsense/change/", {"reason": "x"}).status_code == 302
    assert support.get("/admin/agency/switch/add/").status_code == 403
    assert Switch.objects.count() == 0
