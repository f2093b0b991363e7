"""The preview of a broadcast: what it says comes true, and nothing is written."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from broadcasts.models import Broadcast, Rate, Recipient, Wave
from broadcasts.services.forecast import preview
from broadcasts.services.waves import Due, within_limit, without_limit
from channelconnect.models import Allowance, AllowanceUse
from channelconnect.services.allowance_keys import WINDOW, keys_of
from tests import furnished
from tests.broadcasts.services.making import (
    a_contact,
    a_conversation,
    an_identity,
    begun,
    filled,
    many_contacts,
    recipients,
    scheduled,
    templated,
)
from tests.tenants import Tenant

a = furnished.a_with_channel

T0 = datetime(2026, 6, 1, 9, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def test_what_is_due_within_the_limit_leaves_when_it_is_due() -> None:
    plan = within_limit([Due(T0, 5, 10), Due(T0 + HOUR, 0, 10)], limit=20, ends=[], ahead=0, window=DAY)
    assert (plan.leaving, plan.held) == ({T0: 15, T0 + HOUR: 10}, 0)


def test_what_is_beyond_the_limit_leaves_when_uses_end() -> None:
    plan = within_limit([Due(T0, 0, 25)], limit=10, ends=[(T0 + HOUR, 4)], ahead=0, window=DAY)
    assert plan.leaving == {T0: 6, T0 + HOUR: 4, T0 + DAY: 6, T0 + DAY + HOUR: 4, T0 + 2 * DAY: 5}
    assert (plan.held, plan.last) == (19, T0 + 2 * DAY)


def test_whoever_waits_already_goes_first() -> None:
    plan = within_limit([Due(T0, 0, 5)], limit=10, ends=[(T0 + HOUR, 10)], ahead=8, window=DAY)
    assert plan.leaving == {T0 + HOUR: 2, T0 + HOUR + DAY: 3}


def test_who_is_free_leaves_although_there_is_no_room() -> None:
    plan = within_limit([Due(T0, 3, 2)], limit=0, ends=[], ahead=0, window=DAY)
    assert (plan.leaving, plan.held, plan.last) == ({T0: 3}, 2, T0)


def test_never_more_leave_in_any_window_than_the_limit_allows() -> None:
    ends = [(T0 + minutes * timedelta(minutes=7), 3) for minutes in range(1, 100)]
    plan = within_limit([Due(T0, 0, 900), Due(T0 + 5 * HOUR, 0, 700)], limit=400, ends=ends, ahead=11, window=DAY)
    assert plan.leaving.total() == 1_600
    moments = sorted(plan.leaving)
    for at in moments:
        assert sum(plan.leaving[one] for one in moments if at <= one < at + DAY) <= 400


def test_a_million_held_for_years_is_planned_at_once_and_shown_in_few_waves() -> None:
    plan = within_limit([Due(T0, 0, 1_000_000)], limit=250, ends=[(T0 + HOUR, 250)], ahead=0, window=DAY)
    assert plan.held == 1_000_000
    many = without_limit(Due(T0 + minute * timedelta(minutes=1), 0, 1) for minute in range(1_000))
    waves = many.waves()
    assert len(waves) == 17
    assert sum(wave.count for wave in waves) == 1_000


@pytest.mark.django_db
def test_a_preview_says_what_preparation_then_does(a: Tenant) -> None:
    message = templated(a) | filled("{{contact.first_name}}")
    a_contact(a, "+491511", name="Ada Lovelace", timezone="Europe/Berlin")
    a_contact(a, "+491512", name="Grace Hopper", timezone="America/New_York")
    a_contact(a, "+12025550123", name="Mary", timezone="America/New_York")
    a_contact(a, "+491514", name="")
    a_contact(a, "+491515", name="Out", opted_out_at=now(), opt_out_source="api")
    a_contact(a, None, name="Nobody")
    an_identity(a_contact(a, None, name="Twin"), a.channel, "491512")
    wall = (now() + timedelta(days=3)).replace(hour=9, minute=0, second=0, microsecond=0)
    times: dict[str, Any] = {"timezone_mode": "contact", "scheduled_local_at": wall.strftime("%Y-%m-%d %H:%M:%S")}
    draft = scheduled(a, message=message, status="Draft", **times)
    shown = preview(a.workspace, draft)
    assert not Recipient.objects.exists()
    assert not Wave.objects.exists()
    broadcast = begun(a, message=message, **times)
    rows = list(recipients(broadcast).values())
    assert shown.recipients_count == len(rows) == 7
    assert shown.skipped == Counter(row.skip_reason for row in rows if row.skip_reason)
    assert {(zone.timezone, zone.sends_at): zone.count for zone in shown.zones} == Counter(
        (row.timezone, row.due_at) for row in rows if row.skip_reason is None
    )
    assert [(wave.at, wave.count) for wave in shown.waves] == list(
        broadcast.waves.order_by("due_at").values_list("due_at", "total")
    )
    assert (shown.held_count, shown.last_wave_at) == (0, shown.waves[-1].at)
    assert shown.sample == ["Hello Ada", "Hello Grace", "Hello Mary"]
    assert shown.cost is None


@pytest.mark.django_db
def test_a_draft_that_is_not_saved_has_a_preview_too(a: Tenant) -> None:
    open_one = a_contact(a, "+491511", name="Ada")
    a_contact(a, "+491512")
    a_conversation(open_one, a.channel, hours_ago=1)
    kept = scheduled(a, message={"text": "Hello {{contact.name}}, from {{workspace.name}}"}, status="Draft")
    Broadcast.objects.all().delete()
    kept.pk = None
    with CaptureQueriesContext(connection) as queries:
        shown = preview(a.workspace, kept)
    assert (shown.recipients_count, shown.skipped) == (2, {"outside_window": 1})
    assert (shown.zones, [wave.count for wave in shown.waves]) == ([], [1])
    assert shown.sample == [f"Hello Ada, from {a.workspace.name}"]
    assert len(queries) < 12
    later = scheduled(a, message={"text": "Hello"}, status="Draft", scheduled_at=now() + timedelta(hours=25))
    assert preview(a.workspace, later).skipped == {"outside_window": 2}


@pytest.mark.django_db
def test_the_allowance_holds_back_whoever_is_beyond_it(a: Tenant) -> None:
    message = templated(a)
    many_contacts(a, 10)
    a.channel.messaging_limit = 6
    a.channel.save()
    known, answered = a_contact(a, "+491511"), a_contact(a, "+491512")
    a_conversation(answered, a.channel, hours_ago=1)
    with connection.cursor() as cursor:
        key = keys_of(cursor, [a.channel.pk])[a.channel.pk]
    allowance = Allowance.objects.create(key=key.name, used=2)
    ended = now() - timedelta(hours=20)
    for address in ("491511", "49333"):
        AllowanceUse.objects.create(allowance=allowance, address=address, last_at=ended)
    shown = preview(a.workspace, scheduled(a, message=message, status="Draft"))
    # Two are free; of ten others four have room now, two when the uses end, four a day later.
    assert [wave.count for wave in shown.waves] == [6, 2, 4]
    assert shown.held_count == 6
    assert timedelta() <= shown.waves[1].at - (ended + WINDOW) <= timedelta(minutes=1)
    assert shown.last_wave_at == shown.waves[0].at + WINDOW
    assert known.pk


@pytest.mark.django_db
def test_what_a_template_costs_at_most_follows_from_the_numbers(a: Tenant) -> None:
    message = templated(a)
    a_contact(a, "+491511")
    a_contact(a, "+491512", opted_out_at=now(), opt_out_source="api")
    a_contact(a, "+12025550123")
    for market, price in (("DE", "0.1131"), ("US", "0.025")):
        Rate.objects.create(
            currency="USD", category="marketing", market=market, valid_from=date(2026, 1, 1), price=Decimal(price)
        )
    shown = preview(a.workspace, scheduled(a, message=message, status="Draft"))
    assert shown.cost is not None
    assert (shown.cost.currency, shown.cost.at_most) == ("USD", Decimal("0.14"))
    a_contact(a, "+33612345678")
    assert preview(a.workspace, scheduled(a, message=message, status="Draft")).cost is None
