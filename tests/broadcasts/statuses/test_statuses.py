"""What WhatsApp tells of broadcasts' messages: in any order, twice, and before the send's answer, with the same end."""

import json
from itertools import chain, permutations
from typing import Any

import pytest
from django.db import connection
from django.utils.timezone import now

from agency.actors import SYSTEM
from broadcasts.models import BilledCount, Broadcast, Recipient, Stage
from broadcasts.models.recipients import callback_data_of
from broadcasts.services.counts import add_counts
from channelconnect.inbox.claims import store_notice
from channelconnect.inbox.reading import read_waiting
from channelconnect.models import Allowance, AllowanceUse, ProviderNotice
from tests.broadcasts.sending.broadcasts import a_broadcast, add_recipients, counts, people, rows_as_counts
from tests.channelconnect.inbox.notices import NUMBER, of_number
from tests.config.metrics.conftest import Scrape
from tests.factories import ChannelFactory
from workspaces.contacts.models import Contact
from workspaces.contacts.services import remove_contact
from workspaces.conversations.models import Message
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import reconnect_channel

pytestmark = pytest.mark.django_db
TIMES = {"sent": 1_790_000_001, "delivered": 1_790_000_002, "read": 1_790_000_003, "failed": 1_790_000_004}
END = (
    *("status", "stage", "sent_at", "delivered_at", "read_at", "failed_at", "error_code", "error_message"),
    "is_billed",
)


@pytest.fixture
def channel() -> Channel:
    return ChannelFactory.create(external_id=NUMBER)


def status(recipient: Recipient, name: str, **more: Any) -> dict[str, Any]:
    told: dict[str, Any] = {
        "id": f"wamid.{recipient.contact_id}",
        "status": name,
        "timestamp": str(TIMES[name]),
        "recipient_id": recipient.address.removeprefix("+") if recipient.address else "",
        "biz_opaque_callback_data": callback_data_of(recipient.broadcast_id, recipient.contact_id),
    }
    if name == "failed":
        told["errors"] = [{"code": 131026, "title": "Undeliverable"}]
    if name == "delivered":
        told["pricing"] = {"billable": True, "pricing_model": "PMP", "category": "marketing"}
    return told | more


def tell(*statuses: dict[str, Any], number: str = NUMBER) -> None:
    """Have a callback come and be read; the same one comes as a new one."""
    body = json.loads(of_number(number=number, statuses=list(statuses)))
    body["entry"][0]["time"] += ProviderNotice.objects.count()
    store_notice(body=json.dumps(body).encode())
    read_waiting()
    assert not ProviderNotice.objects.exclude(fault="").exists()


def sent_to(channel: Channel, number: int, **fields: Any) -> list[Recipient]:
    """Recipients whom the sender has sent to."""
    broadcast = a_broadcast(channel)
    rows = add_recipients(broadcast, people(channel, number))
    values: dict[str, Any] = {"stage": Stage.DONE, "status": "sent", "sent_at": now()} | fields
    Recipient.objects.of(broadcast).update(**values)
    if values["status"] != "pending":
        add_counts({broadcast.pk: {"pending": -number, values["status"]: number}})
    for row in rows:
        row.refresh_from_db()
    return rows


def end_of(recipient: Recipient) -> list[Any]:
    recipient.refresh_from_db()
    return [getattr(recipient, name) for name in END]


@pytest.mark.parametrize("names", [("sent", "delivered", "read", "failed"), ("sent", "failed"), ("delivered", "read")])
def test_every_order_has_the_same_end_with_repeats_and_in_one_callback_or_many(
    channel: Channel, names: tuple[str, ...]
) -> None:
    orders = [*permutations(names), *(order * 2 for order in permutations(names))]
    one_by_one = sent_to(channel, len(orders), stage=Stage.CLAIMED, status="pending", sent_at=None, run=7)
    together = sent_to(channel, len(orders), stage=Stage.CLAIMED, status="pending", sent_at=None, run=7)

    for place in range(len(names) * 2):
        pairs = zip(one_by_one, orders, strict=True)
        tell(*(status(row, order[place]) for row, order in pairs if place < len(order)))
    pairs = zip(together, orders, strict=True)
    tell(*chain.from_iterable((status(row, name) for name in order) for row, order in pairs))

    ends = {tuple(end_of(row)) for row in (*one_by_one, *together)}
    [same] = ends
    best = max(names, key=["sent", "failed", "delivered", "read"].index)
    assert same[:2] == (best, Stage.DONE)
    assert bool(same[5]) == bool(same[6]) == (best == "failed")
    for rows in (one_by_one, together):
        broadcast = Broadcast.objects.get(pk=rows[0].broadcast_id)
        assert counts(broadcast) == rows_as_counts(broadcast) == {best: len(orders)}
    billed = len(orders) * 2 if "delivered" in names else 0
    assert sum(BilledCount.objects.values_list("number", flat=True)) == billed


def test_a_status_settles_what_nobody_knows_and_comes_before_the_answer(channel: Channel) -> None:
    [unknown] = sent_to(channel, 1, stage=Stage.UNKNOWN, status="pending", sent_at=None, run=7)
    [claimed] = sent_to(channel, 1, stage=Stage.CLAIMED, status="pending", sent_at=None, run=7)

    tell(*(status(row, "delivered") for row in (unknown, claimed)))

    assert end_of(unknown)[:2] == ["delivered", Stage.DONE]
    assert unknown.provider_message_id == f"wamid.{unknown.contact_id}"
    assert end_of(claimed)[:2] == ["delivered", Stage.DONE]


def never_known(channel: Channel, number: int) -> list[Recipient]:
    """Recipients who ended as failed as nobody knew what became of their message."""
    return sent_to(
        channel,
        number,
        status="failed",
        sent_at=None,
        error_code="send_outcome_unknown",
        failed_at=now(),
        is_counted=True,
    )


@pytest.mark.parametrize("names", [("sent", "failed", "delivered", "read"), ("sent", "delivered"), ("failed", "read")])
def test_a_late_proof_of_delivery_ends_an_unknown_outcome_in_every_order(
    channel: Channel, names: tuple[str, ...]
) -> None:
    orders = list(permutations(names))
    one_by_one, together = never_known(channel, len(orders)), never_known(channel, len(orders))
    Broadcast.objects.update(status="sent", completed_at=now())

    for place in range(len(names)):
        tell(*(status(row, order[place]) for row, order in zip(one_by_one, orders, strict=True)))
    pairs = zip(together, orders, strict=True)
    tell(*chain.from_iterable((status(row, name) for name in order) for row, order in pairs))

    ends = {tuple(end_of(row)) for row in (*one_by_one, *together)}
    [same] = ends
    best = max(names, key=["sent", "failed", "delivered", "read"].index)
    assert same[:2] == (best, Stage.DONE)
    assert same[5:8] == (None, None, None)
    for rows in (one_by_one, together):
        broadcast = Broadcast.objects.get(pk=rows[0].broadcast_id)
        assert counts(broadcast) == rows_as_counts(broadcast) == {best: len(orders)}
        assert broadcast.status == "sent"
    billed = len(orders) * 2 if "delivered" in names else 0
    assert sum(BilledCount.objects.values_list("number", flat=True)) == billed
    # They were counted in the number's limit when they were claimed, and stay so.
    assert all(row.is_counted and row.provider_message_id for row in (*one_by_one, *together))


def test_an_unknown_outcome_of_which_is_only_said_that_it_was_sent_stays_failed_with_its_time(channel: Channel) -> None:
    [row] = never_known(channel, 1)

    tell(status(row, "sent"))

    assert end_of(row)[:2] == ["failed", Stage.DONE]
    assert row.sent_at
    assert row.error_code == "send_outcome_unknown"


def test_read_is_delivered_too_and_nothing_goes_back(channel: Channel) -> None:
    [row] = sent_to(channel, 1)

    tell(status(row, "read"))
    tell(status(row, "sent"), status(row, "failed"))

    assert end_of(row)[0] == "read"
    assert row.delivered_at == row.read_at
    assert (row.failed_at, row.error_code) == (None, None)


def test_ids_of_ours_on_another_number_change_nothing(channel: Channel) -> None:
    ChannelFactory.create(external_id="4002")
    [row] = sent_to(channel, 1)

    tell(status(row, "delivered"), number="4002")
    tell(status(row, "delivered", biz_opaque_callback_data=f"r.{row.broadcast_id}.99999999"))
    tell(status(row, "delivered", biz_opaque_callback_data="r.99999999.1"))

    assert end_of(row)[0] == "sent"


def test_a_failure_gives_its_place_in_the_allowance_back(channel: Channel) -> None:
    kept, back = rows = sent_to(channel, 2, is_counted=True, claimed_at=now())
    allowance = Allowance.objects.create(key=f"number:{NUMBER}", used=2)
    for row in rows:
        AllowanceUse.objects.create(allowance=allowance, address=(row.address or "").removeprefix("+"), last_at=now())

    for _ in range(2):
        tell(status(back, "failed"), status(kept, "sent"))

    allowance.refresh_from_db()
    assert allowance.used == AllowanceUse.objects.count() == 1
    assert AllowanceUse.objects.get().address == (kept.address or "").removeprefix("+")


def test_a_failure_of_a_removed_contact_is_kept_and_hinders_no_other(channel: Channel) -> None:
    gone, other = rows = sent_to(channel, 2, is_counted=True, claimed_at=now())
    remove_contact(contact=Contact.objects.get(pk=gone.contact_id), now=now(), by=SYSTEM)

    tell(*(status(row, "failed") for row in rows))

    assert [end_of(row)[0] for row in (gone, other)] == ["failed", "failed"]


def test_a_failure_that_all_others_would_have_pauses_the_broadcast_and_an_opt_out_is_kept(channel: Channel) -> None:
    stopped, unwilling = rows = sent_to(channel, 2)

    tell(
        status(stopped, "failed", errors=[{"code": 132015, "title": "Template is paused"}]),
        status(unwilling, "failed", errors=[{"code": 131050, "title": "Opted out"}]),
    )

    broadcast = Broadcast.objects.get(pk=rows[0].broadcast_id)
    assert (broadcast.status, "template" in (broadcast.paused_reason or "")) == ("paused", True)
    assert Contact.objects.get(pk=unwilling.contact_id).marketing_opted_out_at
    assert not Contact.objects.get(pk=stopped.contact_id).marketing_opted_out_at


def test_a_failure_that_says_the_access_has_ended_marks_the_channel(channel: Channel) -> None:
    [row] = sent_to(channel, 1)

    tell(status(row, "failed", errors=[{"code": 190, "title": "Token expired"}]))

    channel.refresh_from_db()
    assert channel.status == Channel.Status.ERROR
    assert Broadcast.objects.get(pk=row.broadcast_id).status == "paused"


def test_a_failure_of_what_left_before_the_channel_was_connected_again_says_nothing_of_it(channel: Channel) -> None:
    [row] = sent_to(channel, 1)
    reconnect_channel(channel=channel, name="Shop", handle=channel.handle, now=now(), by=SYSTEM)

    tell(status(row, "failed", errors=[{"code": 190, "title": "Token expired"}]))

    channel.refresh_from_db()
    row.refresh_from_db()
    assert (channel.status, row.status) == (Channel.Status.ACTIVE, "failed")
    assert Broadcast.objects.get(pk=row.broadcast_id).status == "sending"


def test_what_was_billed_is_counted_once_by_month_category_and_market(channel: Channel) -> None:
    first, second = sent_to(channel, 2)
    free = {"billable": False, "pricing_model": "PMP", "category": "utility"}

    tell(status(first, "delivered"), status(second, "delivered", pricing=free))
    tell(status(first, "read", pricing=free), status(second, "delivered", pricing=free))

    found = set(BilledCount.objects.values_list("category", "market", "is_billable", "number", "month__month"))
    assert found == {("marketing", "DE", True, 1, 9), ("utility", "DE", False, 1, 9)}


def test_no_conversation_hears_of_it(channel: Channel) -> None:
    [row] = sent_to(channel, 1)
    tell(status(row, "delivered"))
    assert not Message.objects.exists()


def _updates() -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'broadcasts_recipient'"
        )
        updates, hot = cursor.fetchone()
    return updates, hot


@pytest.mark.django_db(transaction=True)
def test_the_updates_write_no_index(channel: Channel) -> None:
    """Every page has room for new versions, also while a snapshot keeps the old ones: only an index can prevent HOT."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE broadcasts_recipient SET (fillfactor = 10)")
        try:
            assert _of_statuses(channel) == (1_600, 1_600)
        finally:
            cursor.execute("ALTER TABLE broadcasts_recipient RESET (fillfactor)")


def _of_statuses(channel: Channel) -> tuple[int, int]:
    """Count updates, and those that wrote no index; claimed and sent in batches before, as their pages look then."""
    rows = add_recipients(a_broadcast(channel), people(channel, 800))
    batches = [rows[first : first + 200] for first in range(0, len(rows), 200)]
    for batch in batches:
        keys = [row.contact_id for row in batch]
        Recipient.objects.filter(contact_id__in=keys).update(stage=Stage.CLAIMED, run=7, claimed_at=now())
        Recipient.objects.filter(contact_id__in=keys).update(
            stage=Stage.DONE, run=None, status="sent", sent_at=now(), provider_message_id="wamid." + "x" * 50
        )
    updates, hot = _updates()
    for name in ("delivered", "read"):
        for batch in batches:
            tell(*(status(row, name) for row in batch))
    ended, hot_at_end = _updates()
    return ended - updates, hot_at_end - hot


# As if somebody else were faster with every try.
MISSES = """
CREATE FUNCTION miss() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER miss BEFORE UPDATE ON broadcasts_recipient FOR EACH ROW EXECUTE FUNCTION miss()
"""


def test_a_status_that_others_are_always_faster_than_is_read_again_counted_and_logged(
    channel: Channel, scrape: Scrape, caplog: pytest.LogCaptureFixture
) -> None:
    broadcast = a_broadcast(channel)
    [recipient] = add_recipients(broadcast, people(channel, 1))
    with connection.cursor() as cursor:
        cursor.execute(MISSES)
        store_notice(body=of_number(number=NUMBER, statuses=[status(recipient, "delivered")]))
        read_waiting()
        cursor.execute("DROP FUNCTION miss CASCADE")
    recipient.refresh_from_db()
    assert recipient.status == "pending"
    assert ProviderNotice.objects.get().read_at is None
    assert "statuses of recipients were not applied yet" in caplog.messages

    ProviderNotice.objects.update(due_at=now())
    read_waiting()

    recipient.refresh_from_db()
    assert recipient.status == "delivered"
    assert counts(broadcast) == rows_as_counts(broadcast) == {"delivered": 1}
    assert scrape()["recipient_statuses_missed_total", ()] >= 1
