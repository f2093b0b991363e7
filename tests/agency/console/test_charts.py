"""Charts on the console's first page: an agency's own counts over a day, a week and a month, drawn and as a table."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.actors import SYSTEM
from agency.models import CounterState, HourlyCount
from agency.services import record_activity
from agency.services.hourly_counts import hourly_counters, run_hourly_counter
from agency.tasks import count_hours as task
from tests.agency.console.browsers import text
from tests.broadcasts.under_way import a_broadcast
from tests.channelconnect.sending.messages import a_conversation, a_message
from tests.factories import WorkspaceFactory, many_workspaces
from tests.tenants import Tenant
from webhooks.models import HourlyStats
from workspaces.conversations.models import Message

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _one_moment() -> Iterator[None]:
    """Let no hour turn while a test lasts: the page's own clock stands still."""
    with time_machine.travel(now(), tick=False):
        yield


def this_hour() -> datetime:
    return now().astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def home(browser: Client, period: str = "") -> str:
    return browser.get("/console/", {"period": period}).content.decode()


def totals(page: str) -> dict[str, str]:
    """What each chart says in all, by its heading."""
    shown = {}
    for figure in re.findall(r'<figure class="panel chart".*?</figcaption>', page, re.DOTALL):
        words = " ".join(re.sub(r"<[^>]+>", " ", figure).split())
        name = re.search(r"<h3[^>]*>(.*?)</h3>", figure, re.DOTALL)
        assert name
        label = re.sub(r"<[^>]+>", "", name[1])
        shown[label] = words.removeprefix(label).strip()
    return shown


def test_each_period_counts_what_is_in_it_and_only_one_s_own(a: Tenant, b: Tenant, admin: Client) -> None:
    for tenant, factor in ((a, 1), (b, 100)):
        for hours, good in ((0, 5), (23, 2), (25, 10), (24 * 8, 20), (24 * 40, 40)):
            HourlyStats.objects.create(
                endpoint=tenant.endpoint, hour=this_hour() - hours * HOUR, successes=good * factor, errors=factor
            )
            HourlyCount.objects.create(
                agency=tenant.agency, name="messages_sent", hour=this_hour() - hours * HOUR, number=good * factor
            )
    for period, deliveries, sent in (
        ("24h", "7 delivered 2 failed", 7),
        ("7d", "17 delivered 3 failed", 17),
        ("30d", "37 delivered 4 failed", 37),
        ("odd", "7 delivered 2 failed", 7),
    ):
        shown = totals(home(admin, period))
        assert shown["Deliveries"] == deliveries
        assert shown["Messages"] == f"0 received {sent} sent"


def test_a_chart_is_a_table_too(a: Tenant, admin: Client) -> None:
    moment = this_hour() - 3 * HOUR
    HourlyStats.objects.create(endpoint=a.endpoint, hour=moment, successes=1200, errors=3)
    page = home(admin)
    table = re.search(r"<table.*?Deliveries.*?</table>", page, re.DOTALL)
    assert table
    assert f'<time datetime="{moment.isoformat()}">' in table[0]
    assert len(re.findall(r'<th scope="row">', table[0])) == 24
    assert re.search(r'<td class="right">1,200</td><td class="right">3</td>', table[0])
    assert page.count("<path class=") == 2
    assert page.count("<figure") == 1


def test_charts_stand_there_only_with_data(a: Tenant, admin: Client) -> None:
    assert "Over time" not in text(admin.get("/console/"))
    HourlyStats.objects.create(endpoint=a.endpoint, hour=this_hour() - 8 * 24 * HOUR, successes=1, errors=0)
    page = admin.get("/console/")
    assert "Over time 24 hours 7 days 30 days No data for this period." in text(page)
    assert b"<figure" not in page.content
    assert admin.get("/console/?period=30d").content.count(b"<figure") == 1


def test_new_sub_accounts_are_counted_by_the_hour(a: Tenant, b: Tenant, admin: Client) -> None:
    many_workspaces(a.agency, 5, since=this_hour() - 2 * HOUR)
    many_workspaces(a.agency, 4, since=this_hour() - 50 * HOUR)
    many_workspaces(b.agency, 3, since=this_hour() - 2 * HOUR)
    assert totals(home(admin))["New sub-accounts"] == "5 created"
    assert totals(home(admin, "7d"))["New sub-accounts"] == "9 created"


def at(message: Message, moment: datetime) -> None:
    Message.objects.filter(pk=message.pk).update(created_at=moment)


def test_messages_and_broadcasts_are_counted_once_when_their_hour_is_over(a: Tenant, b: Tenant, admin: Client) -> None:
    ended = this_hour() - 2 * HOUR
    for tenant in (a, b):
        conversation = a_conversation(tenant.channel)
        a_broadcast(channel=tenant.channel, started_at=ended)
        for back, count in ((timedelta(0), 3), (HOUR * 30, 2), (-HOUR * 2, 1)):
            for _ in range(count):
                at(a_message(conversation), ended - back)
    task()
    assert not any(run_hourly_counter(counter) for counter in hourly_counters)
    shown = totals(home(admin))
    assert (shown["Messages"], shown["Broadcasts"]) == ("0 received 3 sent", "1 begun")
    assert totals(home(admin, "7d"))["Messages"] == "0 received 5 sent"
    before = list(HourlyCount.objects.order_by("id").values())
    task()
    assert list(HourlyCount.objects.order_by("id").values()) == before


def test_after_a_day_away_nothing_is_missing_or_counted_twice(a: Tenant, admin: Client) -> None:
    conversation = a_conversation(a.channel)
    at(a_message(conversation), this_hour() - 40 * HOUR)
    task()
    _as_if_it_were_longer_ago(days=2)
    at(a_message(conversation), this_hour() - 30 * HOUR)
    at(a_message(conversation), this_hour() - 5 * HOUR)
    task()
    assert totals(home(admin, "7d"))["Messages"] == "0 received 3 sent"


def test_messages_that_are_committed_late_are_counted_and_deleted_ones_stay_counted(a: Tenant, admin: Client) -> None:
    conversation = a_conversation(a.channel)
    sent = []
    for hour in range(7):
        sent.append(a_message(conversation))
        at(sent[-1], this_hour() - HOUR / 2)
        late = a_message(conversation)
        Message.objects.filter(pk=late.pk).delete()  # as long as its transaction is not committed
        task()
        _an_hour_passes()
        if hour > 2:  # enough positions are known
            late.save(force_insert=True)
            at(late, this_hour() - 1.5 * HOUR)
            Message.objects.filter(pk=sent[-2].pk).delete()
    task()
    assert totals(home(admin))["Messages"] == "0 received 11 sent"
    positions = CounterState.objects.get(name="messages").positions
    assert (len(positions), positions) == (4, sorted(positions, reverse=True))
    assert positions[-1] > sent[0].pk


def _an_hour_passes() -> None:
    """Move all that the counters see by an hour; in two steps, because counts of two hours must not meet."""
    for table, column in ((Message, "created_at"), (HourlyCount, "hour"), (CounterState, "counted_until")):
        for hours in (-1_001, 1_000):
            table._default_manager.update(**{column: F(column) + hours * HOUR})


def _as_if_it_were_longer_ago(days: int) -> None:
    """Say that the counters ran last some days ago; what they had counted in the days since is not there."""
    CounterState.objects.update(counted_until=F("counted_until") - timedelta(days=days))


def test_what_was_done_in_a_row_is_one_line(a: Tenant, admin: Client) -> None:
    shops = [WorkspaceFactory.create(agency=a.agency, name=f"Shop {number}") for number in range(4)]
    target = ("pack", a.pack.uuid, "Bundle")
    for shop in shops:
        record_activity(
            by=SYSTEM, action="pack.installed", agency_id=a.agency.pk, target=target, workspace_uuid=shop.uuid
        )
    page = text(admin.get("/console/"))
    assert "Pack installed Bundle 4 times" in page
    assert page.count("Pack installed") == 1
    assert "Sub-account created Shop 3 , Shop 2 and 2 more" in page


def test_the_first_page_reads_indexes_at_ten_thousand(a: Tenant, admin: Client) -> None:
    many_workspaces(a.agency, 10_000)
    many_workspaces(a.agency, 500, since=this_hour() - 20 * HOUR)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE subaccounts_workspace")
    with CaptureQueriesContext(connection) as asked:
        assert totals(home(admin, "30d"))["New sub-accounts"] == "500 created"
    [counted] = [sql for query in asked if "date_bin" in (sql := query["sql"]) and "subaccounts_workspace" in sql]
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + counted.replace("%", "%%"), [])
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "workspace_newest" in plan
