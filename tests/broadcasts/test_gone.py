"""Contacts, segments and files that broadcasts know: what goes with them, and what has to stay."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import transaction
from django.utils.timezone import now

from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast, Recipient, Stage
from broadcasts.services.counts import counts_of
from broadcasts.services.preparation import prepare_chunk
from tests import furnished
from tests.broadcasts.making import a_template, bring_to, create, prepare, row_of, some_contacts
from tests.factories import SegmentFactory, a_file
from tests.parallel import at_once
from tests.tenants import Tenant
from tests.waiting import wait_for_lock
from tests.workspaces.topics import recorded_events, subscribe_to
from workspaces.contacts.models import Contact

a = furnished.a_with_channel

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


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


def test_a_broadcast_whose_chosen_contacts_are_all_removed_ends(a: Tenant) -> None:
    [gone] = some_contacts(a, 1)
    audience = {"type": "contacts", "contacts": [str(gone.uuid)]}
    draft = create(a, audience=audience)
    broadcast = half_prepared(a, Contact(pk=0), gone, audience=audience)
    assert a.workspace_api.delete(f"/contacts/{gone.uuid}").status_code == 200
    answer = a.workspace_api.post(f"/broadcasts/{draft['id']}/preview", {})
    assert (answer.status_code, answer.json()["data"]["recipients_count"]) == (200, 0), answer.content
    assert prepare_chunk(broadcast.pk, now=now())
    broadcast.refresh_from_db()
    assert (broadcast.is_prepared, broadcast.recipients_count) == (True, 0)


def merge(a: Tenant, kept: Contact, gone: Contact) -> None:
    answer = a.workspace_api.post(f"/contacts/{kept.uuid}/merge", {"contact": str(gone.uuid)})
    assert answer.status_code == 200, answer.content


def test_who_has_got_it_under_another_number_does_not_get_it_again(a: Tenant) -> None:
    [kept, gone] = some_contacts(a, 2)
    left: list[tuple[Stage, str]] = [
        (Stage.CLAIMED, "pending"),
        (Stage.UNKNOWN, "pending"),
        (Stage.DONE, "sent"),
        (Stage.DONE, "delivered"),
        (Stage.DONE, "read"),
        (Stage.DONE, "failed"),
    ]
    broadcasts = [bring_to(create(a), "sending") for _ in left]
    for broadcast, (stage, status) in zip(broadcasts, left, strict=True):
        # What the network took and then called failed, it may still call delivered.
        taken = {"error_code": "131026", "provider_message_id": "wamid.1"} if status == "failed" else {}
        prepare(broadcast, [gone], stage=stage, status=status, **taken)
        prepare(broadcast, [kept], stage=Stage.HELD)
    failed = bring_to(create(a), "sending")
    prepare(failed, [gone], stage=Stage.DONE, status="failed")
    prepare(failed, [kept])
    merge(a, kept, gone)
    for broadcast, (stage, status) in zip(broadcasts, left, strict=True):
        found = row(broadcast, kept)
        assert (found.stage, found.status, found.skip_reason) == (Stage.DONE, "skipped", "duplicate_address")
        assert (row(broadcast, gone).stage, row(broadcast, gone).status) == (stage, status)
        assert counted(broadcast, "skipped", "held") == [1, 0]
        assert counted(broadcast, "pending", status) == ([1, 1] if status == "pending" else [0, 1])
    assert (row(failed, kept).stage, row(failed, kept).status) == (Stage.READY, "pending")
    assert counted(failed, "pending", "skipped", "failed") == [1, 0, 1]


LEFT: list[dict[str, Any]] = [
    {"stage": Stage.CLAIMED},
    {"stage": Stage.UNKNOWN},
    {"stage": Stage.DONE, "status": "delivered"},
    {"stage": Stage.DONE, "status": "failed", "error_code": "send_outcome_unknown"},
    {"stage": Stage.DONE, "status": "failed", "error_code": "131026", "provider_message_id": "wamid.1"},
]


def half_prepared(a: Tenant, upto: Contact, last: Contact, **fields: Any) -> Broadcast:
    """A broadcast to everybody, or to those who are chosen, that has come to a contact."""
    broadcast = bring_to(create(a, **fields), "sending")
    template = {"name": "summer_sale", "language": "en_US", "components": []}
    frozen = FrozenMessage(template=template).as_json() | {"filter": {}, "is_refused": False}
    under_way = {"is_prepared": False, "prepared_up_to": upto.pk, "last_contact": last.pk, "frozen": frozen}
    Broadcast.objects.filter(pk=broadcast.pk).update(**under_way)
    return broadcast


@pytest.mark.parametrize("audience", ["everybody", "chosen"])
def test_who_becomes_one_with_somebody_who_has_got_it_is_passed_over_later(a: Tenant, audience: str) -> None:
    """Whether preparation still comes to them, another one who waits becomes them, or they become another one."""
    [first, second, kept, last] = some_contacts(a, 4)
    chosen = {"audience": {"type": "contacts", "contacts": [str(one.uuid) for one in (first, second)]}}
    broadcasts = [half_prepared(a, second, kept, **(chosen if audience == "chosen" else {})) for _ in LEFT]
    for broadcast, left in zip(broadcasts, LEFT, strict=True):
        prepare(broadcast, [first], claimed_at=now(), **left)
        prepare(broadcast, [second])
        prepare(broadcast, [last], stage=Stage.HELD)
    Broadcast.objects.update(recipients_count=3)
    merge(a, kept, first)
    for broadcast in broadcasts:
        assert prepare_chunk(broadcast.pk, now=now())
        assert (row(broadcast, kept).status, row(broadcast, kept).skip_reason) == ("skipped", "duplicate_address")
    merge(a, kept, second)
    assert [row(broadcast, second).status for broadcast in broadcasts] == ["skipped"] * len(LEFT)
    merge(a, last, kept)
    for broadcast in broadcasts:
        assert not Recipient.objects.of(broadcast).filter(stage__in=(Stage.READY, Stage.HELD)).exists()
        broadcast.refresh_from_db()
        assert (broadcast.is_prepared, broadcast.recipients_count) == (True, 4)
        assert counted(broadcast, "skipped", "held") == [3, 0]


def test_who_was_skipped_and_becomes_one_with_somebody_who_has_got_it_gets_no_second_one(a: Tenant) -> None:
    [first, second, kept, last] = some_contacts(a, 4)
    reasons = ("no_address", "duplicate_address", "variable_missing")
    broadcasts, ended = [bring_to(create(a), "sending") for _ in reasons], bring_to(create(a), "sent")
    for one in (*broadcasts, ended):
        prepare(one, [first], stage=Stage.DONE, status="sent", claimed_at=now())
    for broadcast, reason in zip(broadcasts, reasons, strict=True):
        prepare(broadcast, [second, last])
        prepare(broadcast, [kept], stage=Stage.DONE, status="skipped", skip_reason=reason, address=None)
    merge(a, kept, first)
    merge(a, kept, second)
    for broadcast in broadcasts:
        assert (row(broadcast, kept).stage, row(broadcast, second).status) == (Stage.DONE, "skipped")
    merge(a, last, kept)
    for broadcast in broadcasts:
        assert row(broadcast, last).status == "skipped"
        assert counted(broadcast, "sent", "skipped", "pending") == [1, 3, 0]
    assert Recipient.objects.of(ended).count() == 1


def test_a_chosen_contact_whose_turn_is_over_is_not_chosen_again_as_another(a: Tenant) -> None:
    [gone, kept] = some_contacts(a, 2)
    broadcast = half_prepared(a, gone, kept, audience={"type": "contacts", "contacts": [str(gone.uuid)]})
    prepare(broadcast, [gone], stage=Stage.DONE, status="failed", error_code="131026")
    merge(a, kept, gone)
    assert prepare_chunk(broadcast.pk, now=now())
    assert list(Recipient.objects.of(broadcast).values_list("contact_id", flat=True)) == [gone.pk]


@pytest.mark.parametrize("becomes", ["one whose turn is over", "one who was added later"])
def test_a_chosen_contact_that_becomes_another_while_it_is_prepared_is_not_missed(a: Tenant, becomes: str) -> None:
    [older, prepared, gone, newer] = some_contacts(a, 4)
    kept = older if becomes == "one whose turn is over" else newer
    chosen = [str(prepared.uuid), str(gone.uuid)]
    broadcast = bring_to(create(a, audience={"type": "contacts", "contacts": chosen}), "sending")
    frozen = FrozenMessage(text="Hello").as_json() | {"filter": {}, "is_refused": False}
    under_way = {"is_prepared": False, "prepared_up_to": prepared.pk, "last_contact": gone.pk, "frozen": frozen}
    Broadcast.objects.filter(pk=broadcast.pk).update(**under_way)
    prepare(broadcast, [prepared])
    merge(a, kept, gone)
    assert prepare_chunk(broadcast.pk, now=now())
    assert set(Recipient.objects.of(broadcast).values_list("contact_id", flat=True)) == {prepared.pk, kept.pk}
    broadcast.refresh_from_db()
    assert (broadcast.is_prepared, broadcast.recipients_count) == (True, 1)


def test_a_skip_is_one_event_though_preparation_goes_back(a: Tenant) -> None:
    subscribe_to(a.workspace, "broadcast.recipient_skipped")
    [kept, skipped, gone] = some_contacts(a, 3)
    Contact.objects.filter(pk__in=[kept.pk, skipped.pk]).update(opted_out_at=now(), opt_out_source="keyword")
    chosen = [str(skipped.uuid), str(gone.uuid)]
    broadcast = half_prepared(a, kept, gone, audience={"type": "contacts", "contacts": chosen})
    assert prepare_chunk(broadcast.pk, now=now(), size=1)
    merge(a, kept, gone)
    assert prepare_chunk(broadcast.pk, now=now())
    told = [data["recipient"]["contact"]["id"] for _, data in recorded_events(a.workspace)]
    assert told == [str(skipped.uuid), str(kept.uuid)]
    assert counted(broadcast, "pending", "skipped") == [0, 2]


@pytest.mark.parametrize("reason", ["no_address", "duplicate_address"])
def test_who_had_no_address_of_their_own_gets_it_at_the_other_s(a: Tenant, reason: str) -> None:
    [kept, gone] = some_contacts(a, 2)
    ready, held = [bring_to(create(a), "sending") for _ in range(2)]
    for broadcast, stage in ((ready, Stage.READY), (held, Stage.HELD)):
        prepare(broadcast, [kept], stage=Stage.DONE, status="skipped", skip_reason=reason, address=None)
        prepare(broadcast, [gone], stage=stage, values=["Ada"])
    merge(a, kept, gone)
    for broadcast, stage in ((ready, Stage.READY), (held, Stage.HELD)):
        found, other = row(broadcast, kept), row(broadcast, gone)
        assert (found.stage, found.status, found.skip_reason) == (stage, "pending", None)
        assert (found.address, found.values) == (gone.phone, ["Ada"])
        assert (other.stage, other.status, other.address) == (Stage.DONE, "skipped", None)
        assert counted(broadcast, "pending", "skipped", "held") == [1, 1, int(stage == Stage.HELD)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("becomes", ["removed", "merged"])
def test_the_broadcast_is_locked_before_its_recipients(a: Tenant, becomes: str) -> None:
    """Whoever locks them in this order, too, is never waited for in a circle."""
    [kept, gone] = some_contacts(a, 2)
    broadcast = bring_to(create(a, audience={"type": "contacts", "contacts": [str(gone.uuid)]}), "sending")
    Broadcast.objects.filter(pk=broadcast.pk).update(is_prepared=False)
    prepare(broadcast, [gone])

    def change(_: int) -> None:
        if becomes == "merged":
            merge(a, kept, gone)
        else:
            assert a.workspace_api.delete(f"/contacts/{gone.uuid}").status_code == 200

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Broadcast.objects.select_for_update(no_key=True).get(pk=broadcast.pk)
            done = pool.submit(at_once, change, times=1)
            wait_for_lock()
            Recipient.objects.of(broadcast).select_for_update(no_key=True, nowait=True).get(contact_id=gone.pk)
            Contact.objects.select_for_update(no_key=True, nowait=True).get(pk=gone.pk)
        done.result()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("becomes", ["removed", "merged"])
def test_recipients_are_locked_before_their_contact(a: Tenant, becomes: str) -> None:
    """As those do who read that somebody wants no more of them."""
    [kept, gone] = some_contacts(a, 2)
    broadcast = bring_to(create(a), "sending")
    prepare(broadcast, [gone])

    def change(_: int) -> None:
        if becomes == "merged":
            merge(a, kept, gone)
        else:
            assert a.workspace_api.delete(f"/contacts/{gone.uuid}").status_code == 200

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Recipient.objects.of(broadcast).select_for_update(no_key=True).get(contact_id=gone.pk)
            done = pool.submit(at_once, change, times=1)
            wait_for_lock()
            Contact.objects.select_for_update(no_key=True, nowait=True).get(pk=gone.pk)
        done.result()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("becomes", ["removed", "merged"])
def test_who_changes_waits_for_the_chunk_that_is_prepared_at_that_moment(a: Tenant, becomes: str) -> None:
    [gone, kept] = some_contacts(a, 2)
    if becomes == "removed":
        gone, kept = kept, gone
    first, second = sorted((gone, kept), key=lambda one: one.pk)
    broadcast = half_prepared(a, first, second)
    prepare(broadcast, [first])

    def change(_: int) -> None:
        if becomes == "merged":
            merge(a, kept, gone)
        else:
            assert a.workspace_api.delete(f"/contacts/{gone.uuid}").status_code == 200

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            assert prepare_chunk(broadcast.pk, now=now())
            done = pool.submit(at_once, change, times=1)
            wait_for_lock()
        done.result()
    found = row(broadcast, gone)
    reason = "duplicate_address" if becomes == "merged" else "no_address"
    assert (found.stage, found.skip_reason, found.address) == (Stage.DONE, reason, None)
    assert (row(broadcast, kept).stage, row(broadcast, kept).address) == (Stage.READY, kept.phone)
    assert counted(broadcast, "pending", "skipped") == [1, 1]


@pytest.mark.django_db(transaction=True)
def test_the_broadcast_is_locked_before_its_recipients_where_one_more_may_stand_in_it(a: Tenant) -> None:
    [kept, gone] = some_contacts(a, 2)
    broadcast = bring_to(create(a), "sending")
    prepare(broadcast, [gone], stage=Stage.DONE, status="sent")
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Broadcast.objects.select_for_update(no_key=True).get(pk=broadcast.pk)
            done = pool.submit(at_once, lambda _: merge(a, kept, gone), times=1)
            wait_for_lock()
            Recipient.objects.of(broadcast).select_for_update(no_key=True, nowait=True).get(contact_id=gone.pk)
        done.result()
    assert row(broadcast, kept).skip_reason == "duplicate_address"


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
