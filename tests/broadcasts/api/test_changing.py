"""Drafts are changed: what is named changes, what is left out stays, and all of it is checked as at creation."""

from typing import Any

import pytest

from tests import furnished
from tests.broadcasts.making import a_template, bring_to, create, row_of, some_contacts
from tests.tenants import Tenant
from tests.workspaces.topics import recorded_events, subscribe_to

a, b = furnished.a_with_channel, furnished.b_with_channel

pytestmark = pytest.mark.django_db


def patch(a: Tenant, shown: dict[str, Any], **changes: Any) -> Any:
    return a.workspace_api.patch(f"/broadcasts/{shown['id']}", changes)


def changed(a: Tenant, shown: dict[str, Any], **changes: Any) -> dict[str, Any]:
    answer = patch(a, shown, **changes)
    assert answer.status_code == 200, answer.content
    data: dict[str, Any] = answer.json()["data"]
    return data


def test_what_is_left_out_stays(a: Tenant) -> None:
    people = [str(one.uuid) for one in some_contacts(a, 2)]
    shown = create(a, audience={"type": "contacts", "contacts": people}, scheduled_at="2027-01-01T00:00:00Z")
    after = changed(a, shown, name="Renamed")
    assert after == {**shown, "name": "Renamed"}
    assert changed(a, shown, scheduled_at=None)["scheduled_at"] is None


def test_audience_and_message_are_replaced_as_a_whole(a: Tenant) -> None:
    a_template(a.channel)
    shown = create(a, message={"text": "Hello", "track_clicks": False})
    after = changed(a, shown, message={"template": "summer_sale", "language": "en_US"})
    assert (after["message"]["text"], after["message"]["track_clicks"]) == (None, True)
    after = changed(a, shown, audience={"type": "segment", "segment": str(a.segment.uuid)})
    assert row_of(shown).segment == a.segment
    changed(a, shown, audience={"type": "segment", "segment": "all"})
    assert row_of(shown).segment is None


def test_times_follow_the_mode(a: Tenant) -> None:
    shown = create(a, scheduled_at="2027-01-01T00:00:00Z")
    answer = patch(a, shown, timezone_mode="contact")
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["scheduled_local_at"])
    after = changed(a, shown, timezone_mode="contact", scheduled_local_at="2027-01-01 09:00:00")
    assert after["scheduled_at"] == "2026-12-31T19:00:00Z"
    after = changed(a, shown, name="Renamed")
    assert (after["scheduled_at"], after["scheduled_local_at"]) == ("2026-12-31T19:00:00Z", "2027-01-01 09:00:00")
    after = changed(a, shown, timezone_mode="fixed")
    assert (after["scheduled_at"], after["scheduled_local_at"]) == (None, None)


def test_the_type_brings_its_own_audience(a: Tenant) -> None:
    source = create(a)
    bring_to(source, "sent")
    shown = create(a)
    answer = patch(a, shown, type="retarget")
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["source_broadcast_id"])
    after = changed(a, shown, type="retarget", source_broadcast_id=source["id"], retarget_engagement="read")
    assert (after["audience"], after["source_broadcast_id"]) == (None, source["id"])
    assert changed(a, shown, retarget_engagement="failed")["retarget_engagement"] == "failed"
    answer = patch(a, shown, type="contact")
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["audience"])
    after = changed(a, shown, type="contact", audience={"type": "segment", "segment": "all"})
    assert (after["source_broadcast_id"], after["retarget_engagement"]) == (None, None)


def test_what_is_changed_to_is_checked(a: Tenant, b: Tenant) -> None:
    shown = create(a)
    for changes, status in (
        ({"name": ""}, 422),
        ({"message": {}}, 422),
        ({"channel": str(b.channel.uuid)}, 404),
        ({"audience": {"type": "segment", "segment": str(b.segment.uuid)}}, 404),
        ({"audience": None}, 422),
        ({"timezone_mode": "local"}, 422),
    ):
        assert patch(a, shown, **changes).status_code == status, changes
    assert a.workspace_api.get(f"/broadcasts/{shown['id']}").json()["data"] == shown


def test_nothing_is_told_where_nothing_changed(a: Tenant) -> None:
    subscribe_to(a.workspace, "broadcast.updated")
    shown = create(a)
    changed(a, shown, name="Sale", message={"text": "Hello"}, schedule=False)
    assert recorded_events(a.workspace) == []
    changed(a, shown, audience={"type": "segment", "segment": str(a.segment.uuid)}, requires_approval=True)
    [(_, data)] = recorded_events(a.workspace)
    assert set(data["changes"]) == {"audience", "requires_approval"}
