"""Broadcasts and recipients are listed: by page, filter and few statements, from counts that are kept."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from broadcasts.models import Broadcast, Recipient, Stage
from tests.broadcasts.making import a_body, bring_to, create, prepare, row_of, some_contacts
from tests.factories import ChannelFactory
from tests.tenants import Tenant
from tests.workspaces.subaccounts.dashboard.clients import dashboard_client
from workspaces.contacts.models import Contact

pytestmark = pytest.mark.django_db
# The switch and the key's caller, then rows, their number, counts and waves.
MOST_STATEMENTS = 6


def listed(a: Tenant, query: str = "") -> list[str]:
    return [one["name"] for one in a.workspace_api.get(f"/broadcasts{query}").json()["data"]]


def statements_of(a: Tenant, path: str) -> int:
    with CaptureQueriesContext(connection) as statements:
        assert a.workspace_api.get(path).status_code == 200
    return len(statements)


def test_the_newest_comes_first_and_filters_keep_some(a: Tenant, b: Tenant) -> None:
    messenger = ChannelFactory.create(workspace=a.workspace, platform="facebook")
    create(a, name="First")
    create(a, name="Second", channel=str(messenger.uuid))
    create(a, name="Third", schedule=True)
    create(b, name="Theirs")
    assert listed(a) == ["Third", "Second", "First"]
    assert listed(a, "?status=Draft") == ["Second", "First"]
    assert listed(a, "?status=Scheduled") == ["Third"]
    for unknown in ("?status=draft", "?status=done", "?channel=5", f"?channel={b.channel.uuid}"):
        assert listed(a, unknown) == []
    assert listed(a, f"?channel={messenger.uuid}") == ["Second"]
    assert listed(a, "?per_page=2&page=2") == ["First"]


def test_a_list_costs_the_same_however_long_it_is(a: Tenant) -> None:
    people = [str(one.uuid) for one in some_contacts(a, 3)]
    for number in range(4):
        shown = create(a, audience={"type": "contacts", "contacts": people})
        bring_to(shown, "sending" if number % 2 else "Scheduled")
    a.workspace_api.get("/broadcasts")
    assert statements_of(a, "/broadcasts?per_page=1") == MOST_STATEMENTS
    assert statements_of(a, "/broadcasts") == MOST_STATEMENTS
    [first, *_] = a.workspace_api.get("/broadcasts").json()["data"]
    assert (first["audience"]["contacts"], first["audience"]["contacts_count"]) == (None, 3)


def test_progress_comes_from_the_counts_and_the_queue(a: Tenant) -> None:
    shown = create(a)
    broadcast = bring_to(shown, "sending")
    people = some_contacts(a, 8)
    moment = now().replace(microsecond=0)
    prepare(broadcast, people[:1], due_at=moment - timedelta(minutes=1))
    prepare(broadcast, people[1:3], due_at=moment + timedelta(hours=2))
    prepare(broadcast, people[3:5], due_at=moment + timedelta(hours=5), stage=Stage.HELD)
    prepare(broadcast, people[5:7], stage=Stage.DONE, status="delivered", due_at=moment + timedelta(hours=9))
    prepare(broadcast, people[7:], stage=Stage.DONE, status="read")
    Broadcast.objects.filter(pk=broadcast.pk).update(recipients_count=8)
    read = a.workspace_api.get(f"/broadcasts/{shown['id']}").json()["data"]
    assert read["counts"] == {"pending": 5, "sent": 0, "delivered": 2, "read": 1, "failed": 0, "skipped": 0}
    assert (read["recipients_count"], read["held_count"], read["clicks_count"]) == (8, 2, 0)

    def iso(hours: int) -> str:
        return (moment + timedelta(hours=hours)).isoformat().replace("+00:00", "Z")

    assert (read["next_wave_at"], read["last_wave_at"]) == (iso(2), iso(5))
    bring_to(shown, "sent")
    read = a.workspace_api.get(f"/broadcasts/{shown['id']}").json()["data"]
    assert (read["next_wave_at"], read["last_wave_at"]) == (None, None)


def recipients(a: Tenant, shown: dict[str, Any], query: str = "") -> Any:
    return a.workspace_api.get(f"/broadcasts/{shown['id']}/recipients{query}").json()


def test_recipients_are_paged_newest_first_from_both_ends(a: Tenant) -> None:
    shown = create(a)
    broadcast = bring_to(shown, "sending")
    people = some_contacts(a, 7)
    prepare(broadcast, people)
    ids = [str(one.uuid) for one in reversed(people)]
    seen: list[str] = []
    for page in (1, 2, 3, 4):
        answer = recipients(a, shown, f"?limit=2&page={page}")
        seen += [one["contact"]["id"] for one in answer["data"]]
        assert (answer["meta"]["total"], answer["meta"]["last_page"]) == (7, 4)
    assert seen == ids
    past = recipients(a, shown, "?limit=2&page=5")
    assert (past["data"], past["meta"]["total"]) == ([], 7)
    assert recipients(a, shown, "?page=999999999999")["data"] == []


def test_a_recipient_shows_what_became_of_it(a: Tenant) -> None:
    shown = create(a)
    broadcast = bring_to(shown, "sending")
    [failed, skipped, gone] = some_contacts(a, 3)
    moment = now().replace(microsecond=0)
    prepare(
        broadcast,
        [failed],
        stage=Stage.DONE,
        status="failed",
        claimed_at=moment,
        due_at=moment + timedelta(minutes=15),
        sent_at=moment,
        provider_message_id="wamid.1",
        error_code="131026",
        error_message="Message undeliverable",
        error_details="Not on WhatsApp",
    )
    prepare(broadcast, [skipped, gone], stage=Stage.DONE, status="skipped", skip_reason="opted_out")
    Contact.objects.filter(pk=gone.pk).delete()
    first, second, third = recipients(a, shown)["data"]
    assert first["contact"] is None
    assert (second["contact"], second["skip_reason"]) == (
        {"id": str(skipped.uuid), "name": skipped.name, "phone": skipped.phone},
        "opted_out",
    )
    assert third["error"] == {"code": "131026", "message": "Message undeliverable", "details": "Not on WhatsApp"}
    assert (third["sends_at"], third["sent_at"]) == (moment.isoformat().replace("+00:00", "Z"),) * 2
    assert third["id"] == str(Recipient.objects.get(broadcast_id=broadcast.pk, contact_id=failed.pk).uuid)
    assert (third["provider_message_id"], third["status"], third["delivered_at"]) == ("wamid.1", "failed", None)


def test_recipients_are_filtered_by_status_without_being_counted(a: Tenant) -> None:
    shown = create(a)
    broadcast = bring_to(shown, "sending")
    people = some_contacts(a, 9)
    prepare(broadcast, people[:5], stage=Stage.DONE, status="sent")
    prepare(broadcast, people[5:8], stage=Stage.DONE, status="failed")
    prepare(broadcast, people[8:])
    failed = recipients(a, shown, "?status=failed&per_page=2&page=2")
    assert ([one["contact"]["id"] for one in failed["data"]], failed["meta"]["total"]) == ([str(people[5].uuid)], 3)
    assert recipients(a, shown, "?status=pending")["meta"]["total"] == 1
    assert recipients(a, shown, "?status=read")["data"] == recipients(a, shown, "?status=held")["data"] == []
    with CaptureQueriesContext(connection) as statements:
        recipients(a, shown, "?status=sent")
    assert len(statements) == 7  # switch, caller, broadcast, counts, page, recipients, contacts
    assert not any("count(*)" in one["sql"].lower() for one in statements)
    assert recipients(a, create(a))["data"] == []


def test_what_another_workspace_sends_is_not_found(a: Tenant, b: Tenant) -> None:
    theirs = create(b)
    for path in ("", "/recipients"):
        answer = a.workspace_api.get(f"/broadcasts/{theirs['id']}{path}")
        assert (answer.status_code, answer.json()) == (404, {"message": "Broadcast not found."})
    assert row_of(theirs).workspace == b.workspace
    assert a.workspace_api.post("/broadcasts", a_body(a)).status_code == 201


def test_a_recipient_keeps_the_number_that_was_written_to(a: Tenant) -> None:
    shown = create(a)
    [changed, gone, skipped] = some_contacts(a, 3)
    broadcast = bring_to(shown, "sending")
    prepare(broadcast, [changed, gone], stage=Stage.DONE, status="sent")
    prepare(broadcast, [skipped], stage=Stage.DONE, status="skipped", skip_reason="opted_out", address=None)
    number, theirs = changed.phone, skipped.phone
    for contact in (changed, skipped):
        answer = a.workspace_api.patch(f"/contacts/{contact.uuid}", {"phone": f"+4915112345{contact.pk % 1000:03}"})
        assert answer.status_code == 200
    assert a.workspace_api.delete(f"/contacts/{gone.uuid}").status_code == 200

    by_id = {one["contact"] and one["contact"]["id"]: one["contact"] for one in recipients(a, shown)["data"]}
    assert by_id[str(changed.uuid)]["phone"] == number
    assert by_id[str(skipped.uuid)]["phone"] not in (None, theirs)
    assert by_id[None] is None
    assert Recipient.objects.get(contact_id=gone.pk).address is None
    owner = dashboard_client(a.workspace)
    page = owner.get(f"/app/broadcasts/{broadcast.uuid}/recipients").content.decode()
    lines = b"".join(owner.get(f"/app/broadcasts/{broadcast.uuid}/export")).decode()
    for text in (page, lines):
        assert str(number).removeprefix("+") in text
        assert str(gone.phone) not in text
