"""Which of the rows that wait is begun: those that died come last, and none waits for ever or is tried in a circle."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from agency.models import NotificationEvent, PasswordResetRequest
from agency.services.notifications import delivery
from agency.services.notifications.delivery import fan_out_next_event
from agency.services.passwords import PASSWORD_RESETS, answer_next_request
from config.tries.counting import MOST_TRIES, begin_next, begin_tries, next_rows, run_begun, run_counted
from config.tries.models import BegunWork
from tests.parallel import at_once
from tests.tenants import Tenant

pytestmark = pytest.mark.django_db(transaction=True)
KIND = "test"


def waiting() -> Any:
    return PasswordResetRequest.objects.order_by("pk")


def some(number: int) -> list[int]:
    rows = [PasswordResetRequest(email=f"{n}@example.com") for n in range(number)]
    return [row.pk for row in PasswordResetRequest.objects.bulk_create(rows)]


def died(*keys: int, times: int = 1) -> None:
    for _ in range(times):
        begin_tries(kind=KIND, keys=keys)


def next_keys(most: int = 10) -> list[int]:
    return [row.pk for row in next_rows(waiting(), kind=KIND, most=most)]


def test_those_that_died_come_last_and_one_at_a_time_with_the_fewest_tries_first() -> None:
    first, second, third, fourth = some(4)
    died(first, times=2)
    died(third)
    assert next_keys() == [second, fourth]
    PasswordResetRequest.objects.filter(pk__in=[second, fourth]).delete()
    assert next_keys() == [third]
    died(third, times=2)
    assert next_keys() == [first]


def test_one_that_died_waits_for_others_no_longer_than_five_minutes() -> None:
    first, second, third = some(3)
    died(first)
    assert next_keys() == [second, third]
    BegunWork.objects.update(begun_at=now() - timedelta(minutes=5, seconds=1))
    assert next_keys() == [first]
    assert begin_next(waiting(), kind=KIND)
    assert next_keys() == [second, third]


def test_however_many_died_their_names_are_not_read() -> None:
    """Two thousand died here; each one that waits is looked up."""
    keys = some(2_000)
    died(*keys)
    [fresh] = some(1)
    with CaptureQueriesContext(connection) as captured:
        assert next_keys() == [fresh]
    assert max(len(query["sql"]) for query in captured) < 2_000
    PasswordResetRequest.objects.filter(pk=fresh).delete()
    assert next_keys() == [keys[0]]


def test_one_whose_giving_up_dies_keeps_no_other_from_its_end() -> None:
    first, second = some(2)
    died(first, times=MOST_TRIES + 1)
    died(second, times=MOST_TRIES)
    assert next_keys() == [second]


def test_work_that_others_have_begun_meanwhile_stays_counted_when_the_first_ends() -> None:
    first = begin_tries(kind=KIND, keys=[1])["1"]
    second = begin_tries(kind=KIND, keys=[1])["1"]
    run_begun(first, lambda: None, give_up=lambda: None)
    assert BegunWork.objects.get().tries == 2
    run_begun(second, lambda: None, give_up=lambda: None)
    assert not BegunWork.objects.exists()


def test_what_is_asked_for_every_minute_is_tried_again_a_day_after_it_was_set_aside() -> None:
    def ask() -> str:
        return run_counted(lambda: "done", kind=KIND, key=1, give_up=lambda: "given up")

    died(1, times=MOST_TRIES)
    for _ in range(12):
        assert ask() == "given up"
        BegunWork.objects.update(set_aside_at=F("set_aside_at") - timedelta(hours=2))
    BegunWork.objects.update(set_aside_at=F("set_aside_at") - timedelta(seconds=1))
    assert ask() == "done"
    assert not BegunWork.objects.exists()


def an_event(a: Tenant, **fields: Any) -> NotificationEvent:
    return NotificationEvent.objects.create(
        agency=a.agency, kind="export.ended", key=str(NotificationEvent.objects.count()), created_at=now(), **fields
    )


def test_an_event_whose_notification_fails_is_set_aside_and_others_go_on(
    a: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    deadly, other = an_event(a), an_event(a)
    next_people = delivery._next_people

    def fail(event: NotificationEvent) -> Any:
        if event.pk == deadly.pk:
            raise ZeroDivisionError
        return next_people(event)

    monkeypatch.setattr(delivery, "_next_people", fail)
    with pytest.raises(ZeroDivisionError):
        fan_out_next_event()
    assert fan_out_next_event()
    other.refresh_from_db()
    assert other.told_at
    for _ in range(MOST_TRIES - 1):
        with pytest.raises(ZeroDivisionError):
            fan_out_next_event()
    assert fan_out_next_event()
    assert not fan_out_next_event()
    assert BegunWork.objects.exclude(set_aside_at=None).get().key == str(deadly.pk)


def test_requests_for_passwords_are_answered_once_by_several_workers() -> None:
    some(12)
    answered = at_once(lambda _: answer_next_request(PASSWORD_RESETS), times=12, threads=4)
    while answer_next_request(PASSWORD_RESETS):
        pass
    assert answered.count(True) == 12
    assert not PasswordResetRequest.objects.exists()
    assert not BegunWork.objects.exists()
