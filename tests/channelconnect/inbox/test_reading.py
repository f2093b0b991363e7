"""The inbox is read in batches, each body once; one that breaks its reader is left alone, and it alone."""

import logging
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils.timezone import now

from channelconnect.inbox import claims
from channelconnect.inbox.reading import Reader, read_waiting
from channelconnect.models import ProviderNotice, ReadingAttempt
from tests.channelconnect.inbox.applying import (
    BREAKS,
    BREAKS_STATEMENT,
    a_message,
    applied,
    handlers,
    store,
    transactions,
)
from tests.channelconnect.inbox.notices import NUMBER, of_number
from tests.factories import ChannelFactory
from tests.parallel import at_once
from workspaces.subaccounts.models import Channel

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("applied")]
in_public = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def number(db: None) -> Channel:
    return ChannelFactory.create(external_id=NUMBER, starter_pack=False)


def read() -> int:
    return read_waiting(handlers=handlers)


def unread() -> int:
    return ProviderNotice.objects.filter(read_at=None).count()


def test_a_batch_is_applied_in_one_transaction_the_oldest_first(django_assert_max_num_queries: Any) -> None:
    names = [f"m{number}" for number in range(60)]
    store(*names)
    with django_assert_max_num_queries(20):
        assert read() == 60
    assert applied() == names
    assert (unread(), ReadingAttempt.objects.count()) == (0, 0)


@in_public
def test_the_facts_of_a_batch_reach_each_handler_at_once() -> None:
    statuses = [{"id": f"s{n}", "status": "sent", "recipient_id": "491701234567"} for n in range(1_000)]
    store_statuses = of_number(statuses=statuses)
    store("m1")
    ProviderNotice.objects.create(digest=b"x" * 32, body=store_statuses)
    store("m2")
    assert read() == 3
    assert applied() == ["m1", "m2", *(f"s{n}" for n in range(1_000))]
    assert transactions() == 1


def test_what_is_for_another_s_channel_or_a_disconnected_one_is_read_and_dropped(number: Channel) -> None:
    number.status = Channel.Status.DISCONNECTED
    number.save()
    store("m1")
    ProviderNotice.objects.create(digest=b"x" * 32, body=a_message("m2", number="4999"))
    assert read() == 2
    assert (applied(), unread()) == ([], 0)


def test_a_channel_in_error_is_still_written_to(number: Channel) -> None:
    Channel.objects.filter(pk=number.pk).update(status=Channel.Status.ERROR)
    store("m1")
    read()
    assert applied() == ["m1"]


@in_public
@pytest.mark.parametrize("text", [BREAKS, BREAKS_STATEMENT])
def test_a_body_that_breaks_its_reader_is_left_alone_and_the_others_are_read(
    text: str, caplog: pytest.LogCaptureFixture
) -> None:
    store(*(f"m{number}" for number in range(40)))
    store("broken", text=text)
    store(*(f"n{number}" for number in range(40)))
    with caplog.at_level(logging.ERROR):
        read()
    assert sorted(applied()) == sorted([f"{kind}{number}" for kind in "mn" for number in range(40)])
    broken = ProviderNotice.objects.get(read_at=None)
    assert broken.tries == 3
    assert broken.fault == ("Broken" if text == BREAKS else "DivisionByZero 22012")
    assert b"broken" in bytes(broken.body)
    assert "491701234567" not in caplog.text
    store("later")
    read()
    assert "later" in applied()
    for tries in (4, 5):
        ProviderNotice.objects.filter(read_at=None).update(due_at=now())
        read()
        broken.refresh_from_db()
        assert (broken.tries, broken.read_at) == (tries, None)
    ProviderNotice.objects.filter(read_at=None).update(due_at=now())
    assert read() == 0


def test_a_body_that_was_broken_is_read_once_it_can_be() -> None:
    store("m1", text=BREAKS)
    read()
    ProviderNotice.objects.update(body=a_message("m1"), due_at=now())
    assert read() == 1
    notice = ProviderNotice.objects.get()
    assert (applied(), notice.fault, notice.read_at is None) == (["m1"], "", False)


def test_a_try_that_failed_is_repeated_later_by_the_database_s_clock() -> None:
    store("m1", text=BREAKS)
    read()
    notice = ProviderNotice.objects.get()
    assert notice.due_at is not None
    assert timedelta(seconds=50) < notice.due_at - now() < timedelta(seconds=70)
    assert read() == 0


def test_what_a_dead_reader_had_is_read_by_another_in_smaller_company() -> None:
    store(*(f"m{number}" for number in range(60)))
    assert claims.begin_new(after=0)
    assert claims.end_abandoned_readings() == 0
    ReadingAttempt.objects.update(begun_at=now() - timedelta(seconds=11))
    assert claims.end_abandoned_readings() == 60
    assert set(ProviderNotice.objects.values_list("tries", flat=True)) == {1}
    assert ReadingAttempt.objects.count() == 0
    reading = claims.begin_again()
    assert reading is not None
    assert len(reading.notices) == 50
    claims.give_back(reading, fault="x")
    alone = claims.begin_alone()
    assert alone is not None
    assert len(alone.notices) == 1
    claims.give_back(alone, fault="x", is_passing=True)
    ProviderNotice.objects.update(due_at=now())
    read()
    assert sorted(applied()) == sorted(f"m{number}" for number in range(60))


def test_a_reading_that_somebody_took_over_is_not_read_twice() -> None:
    store("m1")
    reading = claims.begin_new(after=0)
    assert reading is not None
    ReadingAttempt.objects.update(begun_at=now() - timedelta(seconds=11))
    read()
    assert claims.mark_read(reading, now=now()) == []
    assert applied() == ["m1"]


@in_public
def test_a_lock_that_somebody_holds_costs_no_try() -> None:
    """The handlers wait for it, give up, and the batch is read once the lock is gone."""
    store("m1")
    taken, done = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE applied_facts IN EXCLUSIVE MODE")
            taken.set()
            done.wait(60)
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    assert taken.wait(60)
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '50ms'")
        try:
            Reader(handlers).read_round()
        finally:
            cursor.execute("SET lock_timeout = '2s'")
    done.set()
    holder.join()
    notice = ProviderNotice.objects.get()
    assert (notice.fault, notice.tries <= 2) == ("LockNotAvailable 55P03", True)
    ProviderNotice.objects.update(due_at=now())
    read()
    assert applied() == ["m1"]


@in_public
def test_many_readers_at_once_apply_each_body_once() -> None:
    names = [f"m{number}" for number in range(400)]
    store(*names)
    at_once(lambda _: read(), times=4)
    read()
    assert sorted(applied()) == sorted(names)
    assert unread() == 0


def test_what_one_batch_takes_is_bounded() -> None:
    for number in range(4):
        digest = bytes([number]) * 32
        ProviderNotice.objects.create(digest=digest, body=a_message(f"m{number}", text="x" * 400_000))
    reading = claims.begin_new(after=0)
    assert reading is not None
    assert len(reading.notices) == 3


def test_what_was_committed_late_is_found() -> None:
    store("late", "m1")
    late = ProviderNotice.objects.earliest("id")
    late.delete()
    reader = Reader(handlers)
    reader.read_round()
    ProviderNotice.objects.create(id=late.id, digest=late.digest, body=late.body)
    reader.read_round()
    assert applied() == ["m1", "late"]


def test_a_reader_without_anything_to_read_looks_with_one_statement(django_assert_num_queries: Any) -> None:
    reader = Reader(handlers)
    assert reader.read_round() == 0
    for _ in range(2):
        with django_assert_num_queries(1):
            assert reader.read_round() == 0


@pytest.mark.parametrize("tries", [0, 1, 2])
def test_a_reader_that_rested_finds_what_comes_and_what_is_due_again(tries: int) -> None:
    reader = Reader(handlers)
    assert reader.read_round() == 0
    store("m1")
    ProviderNotice.objects.update(tries=tries, due_at=now() + timedelta(minutes=1))
    if tries:
        assert reader.read_round() == 0
        ProviderNotice.objects.update(due_at=now() - timedelta(seconds=1))
    assert reader.read_round() == 1
    assert applied() == ["m1"]


def test_a_reading_that_a_dead_reader_has_left_is_something_to_do() -> None:
    store("m1")
    assert claims.begin_new(after=0)
    ProviderNotice.objects.update(read_at=now())
    assert not claims.is_anything_waiting()
    ReadingAttempt.objects.update(begun_at=now() - timedelta(seconds=11))
    assert claims.is_anything_waiting()
    claims.end_abandoned_readings()
    assert not claims.is_anything_waiting()
