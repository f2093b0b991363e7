"""Contacts, segments and files that broadcasts know: what goes with them, and what has to stay."""

from typing import Any

import pytest

from broadcasts.models import Broadcast, Recipient, Stage
from broadcasts.services.counts import counts_of
from tests.broadcasts.making import a_template, bring_to, create, prepare, row_of, some_contacts
from tests.factories import SegmentFactory, a_file
from tests.tenants import Tenant
from tests.workspaces.topics import recorded_events, subscribe_to

pytestmark = pytest.mark.django_db


def counted(broadcast: Broadcast, *names: str) -> list[int]:
    counts = counts_of([broadcast])[broadcast.pk]
    return [counts[name] for name in names]


def row(broadcast: Broadcast, contact: Any) -> Recipient:
    return Recipient.objects.get(broadcast_id=broadcast.pk, contact_id=contact.pk)


def test_a_contact_that_is_removed_gets_nothing_more_and_is_erased(a: Tenant) -> None:
    subscribe_to(a.workspace, "broadcast.recipient_skipped")
    [ada, ben] = some_contacts(a, 2)
    ids = [str(ada.uuid), str(ben.uuid)]
    waiting, held, sent = [bring_to(create(a), "sending") for _ in range(3)]
    draft = create(a, audience={"type": "contacts", "contacts": ids})
    prepare(waiting, [ada, ben], values=["Ada"])
    prepare(held, [ada], stage=Stage.HELD)
    prepare(sent, [ada], stage=Stage.DONE, status="sent", values=["Ada"], error_details="+49301 is wrong")
    assert a.workspace_api.delete(f"/contacts/{ada.uuid}").status_code == 200
    for broadcast in (waiting, held):
        found = row(broadcast, ada)
        assert (found.stage, found.status, found.skip_reason) == (Stage.DONE, "skipped", "no_address")
    assert row(sent, ada).status == "sent"
    for broadcast in (waiting, held, sent):
        found = row(broadcast, ada)
        assert (found.address, found.address_kind, found.values, found.error_details) == (None, None, None, None)
    assert row(waiting, ben).address == ben.phone
    assert counted(waiting, "pending", "skipped") == [1, 1]
    assert counted(held, "pending", "skipped", "held") == [0, 1, 0]
    assert counted(sent, "sent", "skipped") == [1, 0]
    assert row_of(draft).chosen_contacts == [ben.pk]
    assert [data["recipient"]["skip_reason"] for _, data in recorded_events(a.workspace)] == ["no_address"] * 2


def test_of_two_contacts_that_become_one_the_one_that_stays_gets_it_once(a: Tenant) -> None:
    [kept, gone] = some_contacts(a, 2)
    both, only, sent = [bring_to(create(a), "sending") for _ in range(3)]
    draft = create(a, audience={"type": "contacts", "contacts": [str(gone.uuid)]})
    prepare(both, [kept, gone])
    prepare(only, [gone])
    prepare(sent, [gone], stage=Stage.DONE, status="delivered")
    answer = a.workspace_api.post(f"/contacts/{kept.uuid}/merge", {"contact": str(gone.uuid)})
    assert answer.status_code == 200, answer.content
    assert row(both, kept).stage == Stage.READY
    assert (row(both, gone).status, row(both, gone).skip_reason) == ("skipped", "duplicate_address")
    assert counted(both, "pending", "skipped") == [1, 1]
    assert (row(only, kept).stage, row(only, kept).address) == (Stage.READY, gone.phone)
    assert not Recipient.objects.filter(broadcast_id=only.pk, contact_id=gone.pk).exists()
    # The network knows it by its old number, and may still tell of it.
    assert (row(sent, gone).status, row(sent, gone).address) == ("delivered", None)
    assert row_of(draft).chosen_contacts == [kept.pk]


def test_a_segment_stays_while_an_audience_is_to_be_read_from_it(a: Tenant) -> None:
    segment = SegmentFactory.create(workspace=a.workspace)
    path = f"/segments/{segment.uuid}"
    shown = create(a, audience={"type": "segment", "segment": str(segment.uuid)})
    for state in ("Draft", "Scheduled", "sending"):
        bring_to(shown, state)
        Broadcast.objects.update(is_prepared=False)
        answer = a.workspace_api.delete(path)
        told = "This segment is needed by the broadcast \u201cSale\u201d."
        assert (answer.status_code, answer.json()) == (409, {"message": told})
    Broadcast.objects.update(is_prepared=True)
    assert a.workspace_api.delete(path).status_code == 200
    assert row_of(shown).segment is None


def test_a_file_stays_while_it_is_to_be_sent(a: Tenant) -> None:
    file = a_file(a.workspace)
    a_template(a.channel, "document")
    public = f"https://93.184.215.14/media/{file.token}/bill.pdf"
    message = {"template": "summer_sale", "language": "en_US", "header": {"url": public}}
    shown = create(a, message=message)
    for state in ("Scheduled", "sending", "paused"):
        bring_to(shown, state)
        answer = a.workspace_api.delete(f"/media/{file.uuid}")
        told = "This file is needed by the broadcast \u201cSale\u201d."
        assert (answer.status_code, answer.json()) == (409, {"message": told})
    bring_to(shown, "sent")
    assert a.workspace_api.delete(f"/media/{file.uuid}").status_code == 200
