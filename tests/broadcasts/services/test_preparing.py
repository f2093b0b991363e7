"""Contacts become recipients: who is sent to at which address and when, and why somebody is skipped."""

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.utils.timezone import now

from agency.actors import SYSTEM
from broadcasts.models import Broadcast, Recipient
from broadcasts.services.counts import counts_of
from broadcasts.services.moving import cancel_broadcast, pause_broadcast, resume_broadcast
from broadcasts.services.preparation import prepare_chunk
from broadcasts.services.progress import begin_due_broadcasts
from tests import furnished
from tests.broadcasts.services.making import (
    a_contact,
    a_conversation,
    a_segment,
    an_identity,
    begun,
    check_counts,
    filled,
    many_contacts,
    recipients,
    scheduled,
    templated,
    work,
)
from tests.factories import ChannelFactory
from tests.tenants import Tenant
from webhooks.services.endpoints import register_endpoint
from workspaces.subaccounts.services import tenant_of

a, b = furnished.a_with_channel, furnished.b_with_channel

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
FRESH = {"hours_ago": 1}


def reasons(broadcast: Broadcast) -> dict[int, str | None]:
    return {pk: row.skip_reason for pk, row in recipients(broadcast).items()}


@pytest.fixture
def template(a: Tenant) -> dict[str, Any]:
    return templated(a)


def test_a_number_is_sent_to_at_its_phone_else_at_the_network_s_own_id(a: Tenant, template: dict[str, Any]) -> None:
    phone, wa_id, hidden, nobody, other = (
        a_contact(a, "+491511"),
        a_contact(a, None),
        a_contact(a, None),
        a_contact(a, None),
        a_contact(a, None),
    )
    an_identity(phone, a.channel, "491519")
    an_identity(wa_id, a.channel, "491512")
    an_identity(hidden, a.channel, user_id="US.13491208655302741918")
    an_identity(other, ChannelFactory.create(workspace=a.workspace), "491513")
    broadcast = begun(a, message=template)
    rows = recipients(broadcast)
    assert [(rows[one.pk].address_kind, rows[one.pk].address) for one in (phone, wa_id, hidden)] == [
        ("phone", "+491511"),
        ("phone", "+491512"),
        ("user", "US.13491208655302741918"),
    ]
    for one in (nobody, other):
        assert (rows[one.pk].status, rows[one.pk].skip_reason, rows[one.pk].address) == ("skipped", "no_address", None)
    check_counts(broadcast)


@pytest.mark.parametrize("platform", ["facebook", "instagram"])
def test_other_networks_know_people_by_their_newest_id(a: Tenant, platform: str) -> None:
    channel = ChannelFactory.create(workspace=a.workspace, platform=platform)
    known, unknown = a_contact(a, "+491511"), a_contact(a, "+491512")
    for one in (known, unknown):
        a_conversation(one, channel, **FRESH)
    an_identity(known, channel, "100")
    an_identity(known, channel, "200")
    rows = recipients(begun(a, channel=channel))
    assert (rows[known.pk].address_kind, rows[known.pk].address) == ("id", "200")
    assert rows[unknown.pk].skip_reason == "no_address"


def test_who_opted_out_of_all_or_of_marketing_is_skipped(a: Tenant, template: dict[str, Any]) -> None:
    willing = a_contact(a, "+491511")
    out = a_contact(a, "+491512", opted_out_at=now(), opt_out_source="keyword")
    of_marketing = a_contact(a, "+491513", marketing_opted_out_at=now())
    broadcast = begun(a, message=template)
    assert reasons(broadcast) == {willing.pk: None, out.pk: "opted_out", of_marketing.pk: "opted_out"}
    check_counts(broadcast)


def test_free_text_goes_only_where_the_window_on_this_channel_is_open(a: Tenant) -> None:
    open_one, closed, never, elsewhere = (a_contact(a, f"+49151{n}") for n in range(1, 5))
    a_conversation(open_one, a.channel, hours_ago=23.9)
    a_conversation(closed, a.channel, hours_ago=24.1)
    a_conversation(elsewhere, ChannelFactory.create(workspace=a.workspace), **FRESH)
    assert reasons(begun(a)) == {
        open_one.pk: None,
        closed.pk: "outside_window",
        never.pk: "outside_window",
        elsewhere.pk: "outside_window",
    }


def test_whose_moment_comes_later_may_still_write_before(a: Tenant) -> None:
    due_now, later = a_contact(a, "+491511", timezone="Asia/Tokyo"), a_contact(a, "+491512", timezone="UTC")
    wall = (now() + timedelta(hours=8, minutes=30)).replace(tzinfo=None, microsecond=0)
    broadcast = begun(a, timezone_mode="contact", scheduled_local_at=str(wall))
    assert reasons(broadcast) == {due_now.pk: "outside_window", later.pk: None}
    check_counts(broadcast)


def test_a_template_needs_no_window_and_a_variable_without_a_value_skips(a: Tenant, template: dict[str, Any]) -> None:
    full = a_contact(a, "+491511", name="Ada  Lovelace Byron", attributes={"plan": "gold\nand\tmore     "})
    no_plan = a_contact(a, "+491512", name="Ada")
    no_name = a_contact(a, "+491513", name=" ", attributes={"plan": "gold"})
    text = "{{contact.first_name}} {{ fields.plan }} {{contact.first_name}} {{contact.last_name}} {{workspace.name}}"
    broadcast = begun(a, message=filled(text))
    assert reasons(broadcast) == {full.pk: None, no_plan.pk: "variable_missing", no_name.pk: "variable_missing"}
    assert broadcast.frozen is not None
    assert broadcast.frozen["variables"] == ["contact.first_name", "fields.plan", "contact.last_name"]
    assert a.workspace.name in str(broadcast.frozen["template"])
    assert recipients(broadcast)[full.pk].values == ["Ada", "gold and more", "Lovelace Byron"]
    check_counts(broadcast)


def test_of_two_contacts_with_one_number_the_second_is_skipped(a: Tenant, template: dict[str, Any]) -> None:
    """Also in different chunks, and whichever of them has the number as its phone."""
    first = a_contact(a, None)
    an_identity(first, a.channel, "491512")
    second, third = a_contact(a, "+491512"), a_contact(a, "+491513")
    fourth = a_contact(a, None)
    an_identity(fourth, a.channel, "491513")
    for size in (5_000, 1):
        broadcast = begun(a, message=template, chunk=size)
        assert reasons(broadcast) == {
            first.pk: None,
            second.pk: "duplicate_address",
            third.pk: None,
            fourth.pk: "duplicate_address",
        }
        assert [row.address for row in recipients(broadcast).values()] == ["+491512", None, "+491513", None]
        check_counts(broadcast)


def test_who_is_added_later_or_is_somebody_else_s_is_not_in_the_audience(
    a: Tenant, b: Tenant, template: dict[str, Any]
) -> None:
    many_contacts(b, 3, since=100)
    many_contacts(a, 3)
    broadcast = scheduled(a, message=template)
    begin_due_broadcasts(now=now())
    many_contacts(a, 2, since=10)
    work()
    assert len(recipients(broadcast)) == 3
    check_counts(broadcast)


def test_any_size_of_chunks_comes_to_the_same(a: Tenant, b: Tenant, template: dict[str, Any]) -> None:
    for part in range(4):
        many_contacts(a, 2, since=part * 10)
        many_contacts(b, 1, since=1_000 + part)
    tagged = a_contact(a, "+4915177", tag_keys=["vip"], tags=["VIP"])
    segment = a_segment(a, tags_any=["VIP"])
    named = {"type": "segment", "segment": str(segment.uuid)}
    for size in (1, 2, 3, 7, 8):
        everybody = begun(a, message=template, chunk=size)
        pks = list(recipients(everybody))
        assert (size, len(pks)) == (size, 9)
        check_counts(everybody)
        some = begun(a, chunk=size, message=template, segment=segment, audience=named)
        assert (size, list(recipients(some))) == (size, [tagged.pk])
        picked = [pks[7], pks[0], pks[3]]
        chosen = begun(a, chunk=size, message=template, audience={"type": "contacts"}, chosen_contacts=picked)
        assert (size, list(recipients(chosen))) == (size, [pks[0], pks[3], pks[7]])


def test_chosen_contacts_that_are_gone_are_left_out(a: Tenant, b: Tenant, template: dict[str, Any]) -> None:
    own, gone = a_contact(a, "+491511"), a_contact(a, "+491512")
    foreign = a_contact(b, "+491513")
    broadcast = scheduled(
        a, message=template, audience={"type": "contacts"}, chosen_contacts=[own.pk, gone.pk, foreign.pk]
    )
    gone.delete()
    work()
    assert list(recipients(broadcast)) == [own.pk]


def test_a_segment_is_that_of_the_beginning(a: Tenant, template: dict[str, Any]) -> None:
    vip, gold = (a_contact(a, f"+49151{key}", tag_keys=[key], tags=[key]) for key in ("1", "2"))
    segment = a_segment(a, tags_any=["1"])
    broadcast = scheduled(
        a, message=template, segment=segment, audience={"type": "segment", "segment": str(segment.uuid)}
    )
    begin_due_broadcasts(now=now())
    segment.filter = {"tags_any": ["2"]}
    segment.save()
    work()
    assert list(recipients(broadcast)) == [vip.pk]
    assert gold.pk not in recipients(broadcast)


ROWS: dict[str, dict[str, Any]] = {
    "pending": {"status": "pending"},
    "sent": {"status": "sent"},
    "delivered": {"status": "delivered"},
    "read": {"status": "read"},
    "clicked": {"status": "read", "clicked_at": datetime(2026, 1, 1, tzinfo=ZoneInfo("UTC"))},
    "failed": {"status": "failed", "failed_at": now()},
}


FOUND = {
    "sent": {"sent", "delivered", "read", "clicked"},
    "delivered": {"delivered", "read", "clicked"},
    "read": {"read", "clicked"},
    "not_read": {"sent", "delivered"},
    "clicked": {"clicked"},
    "not_clicked": {"sent", "delivered", "read"},
    "failed": {"failed"},
}


def test_a_retarget_goes_to_those_who_did_so(a: Tenant, template: dict[str, Any]) -> None:
    many_contacts(a, len(ROWS) + 1)
    source = begun(a, message=template, chunk=2)
    names: dict[int, str] = {}
    for pk, (name, changes) in zip(recipients(source), ROWS.items(), strict=False):
        Recipient.objects.of(source).filter(contact_id=pk).update(stage=4, **changes)
        names[pk] = name
    retarget: dict[str, Any] = {"message": template, "type": "retarget", "audience": None, "source_broadcast": source}
    children = {one: scheduled(a, **retarget, retarget_engagement=one) for one in FOUND}
    work(chunk=2)
    found = {one: {names.get(pk, "") for pk in recipients(child)} for one, child in children.items()}
    assert found == FOUND


def test_each_zone_has_its_own_moment(a: Tenant, template: dict[str, Any]) -> None:
    a.workspace.timezone = "Asia/Kathmandu"
    a.workspace.save()
    zones = {"Pacific/Kiritimati": 0, None: 8.25, "Nowhere/At_all": 8.25, "Europe/Berlin": 12, "America/New_York": 18}
    people = [a_contact(a, f"+49151{n}", timezone=zone) for n, zone in enumerate(zones)]
    next_july = now().replace(day=1, month=7, year=now().year + 1)
    wall = next_july.replace(microsecond=0, tzinfo=None)
    anchor = wall.replace(tzinfo=ZoneInfo("Pacific/Kiritimati")).astimezone(ZoneInfo("UTC"))
    broadcast = begun(a, message=template, timezone_mode="contact", scheduled_local_at=str(wall), scheduled_at=anchor)
    rows = recipients(broadcast)
    assert [rows[one.pk].due_at - anchor for one in people] == [timedelta(hours=hours) for hours in zones.values()]
    assert [rows[one.pk].timezone for one in people] == [
        "Pacific/Kiritimati",
        "Asia/Kathmandu",
        "Asia/Kathmandu",
        "Europe/Berlin",
        "America/New_York",
    ]
    assert broadcast.next_due_at == anchor
    assert [(wave.total, wave.timezones) for wave in broadcast.waves.order_by("due_at")] == [
        (1, ["Pacific/Kiritimati"]),
        (2, ["Asia/Kathmandu"]),
        (1, ["Europe/Berlin"]),
        (1, ["America/New_York"]),
    ]
    check_counts(broadcast)


@pytest.mark.parametrize(("minutes", "reason"), [(-5, None), (59, None), (61, "local_time_passed")])
def test_a_zone_whose_moment_has_passed_is_sent_at_once_for_an_hour(
    a: Tenant, template: dict[str, Any], minutes: int, reason: str | None
) -> None:
    person = a_contact(a, "+491511", timezone="UTC")
    wall = (now() - timedelta(minutes=minutes)).replace(tzinfo=None, microsecond=0)
    broadcast = begun(a, message=template, timezone_mode="contact", scheduled_local_at=str(wall))
    row = recipients(broadcast)[person.pk]
    assert row.skip_reason == reason
    assert broadcast.started_at is not None
    if minutes == 59:
        assert row.due_at == broadcast.started_at
    if minutes < 0:
        assert row.due_at > broadcast.started_at


def test_preparation_goes_on_while_paused_and_ends_with_a_cancellation(a: Tenant, template: dict[str, Any]) -> None:
    many_contacts(a, 6)
    broadcast = scheduled(a, message=template)
    begin_due_broadcasts(now=now())
    assert prepare_chunk(broadcast.pk, now=now(), size=2)
    pause_broadcast(broadcast=broadcast, now=now(), by=SYSTEM)
    assert prepare_chunk(broadcast.pk, now=now(), size=2)
    assert len(recipients(broadcast)) == 4
    check_counts(broadcast)
    resume_broadcast(broadcast=broadcast, now=now(), by=SYSTEM)
    cancel_broadcast(broadcast=broadcast, now=now(), by=SYSTEM)
    assert not prepare_chunk(broadcast.pk, now=now(), size=2)
    work()
    assert [row.skip_reason for row in recipients(broadcast).values()] == ["cancelled"] * 4
    kept = counts_of([broadcast])[broadcast.pk]
    assert (kept["pending"], kept["skipped"]) == (0, 4)


@pytest.mark.parametrize(("topics", "waits"), [([], "off"), (["broadcast.recipient_skipped"], "on")])
def test_a_chunk_waits_for_the_disk_only_where_it_records_events(
    a: Tenant, template: dict[str, Any], topics: list[str], waits: str
) -> None:
    """What a crash of the server takes back is prepared again, but a receiver would be told twice."""
    if topics:
        register_endpoint(tenant=tenant_of(a.workspace), url="https://93.184.215.14/hooks", events=topics, by=SYSTEM)
    many_contacts(a, 2)
    broadcast = scheduled(a, message=template)
    begin_due_broadcasts(now=now())
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = on")
        assert prepare_chunk(broadcast.pk, now=now())
        cursor.execute("SHOW synchronous_commit")
        assert cursor.fetchone() == (waits,)
