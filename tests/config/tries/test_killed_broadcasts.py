"""Broadcasts whose beginning or preparation kills its process are paused with a reason, and others go out."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import connection
from django.utils.timezone import now

from agency.models import NotificationEvent
from broadcasts.models import Broadcast, Recipient
from broadcasts.services.moving import BROKE_OFF
from broadcasts.services.progress import begin_due_broadcasts
from config.tries.counting import MOST_TRIES
from config.tries.models import BegunWork
from tests.broadcasts.services.making import check_counts, filled, many_contacts, scheduled, templated, work
from tests.config.tries.killing import DEADLY, kills_of, next_number, set_aside
from tests.factories import BODY_PARAMETER, a_message_template
from tests.parallel import at_once
from tests.processes.preloaded import Preloaded
from tests.tenants import Tenant
from tests.waiting import wait_for_lock

pytestmark = pytest.mark.django_db(transaction=True)
PEOPLE = 7


def notified(broadcast: Broadcast) -> set[str]:
    """The kinds of notifications about it that give the reason."""
    rows = NotificationEvent.objects.filter(object_id=str(broadcast.uuid), data__reason=BROKE_OFF)
    return set(rows.values_list("kind", flat=True))


@contextmanager
def holding(table: str) -> Iterator[None]:
    """Let nobody write into a table."""
    with connection.copy().cursor() as cursor:
        cursor.execute(f"BEGIN; LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE")
        try:
            yield
        finally:
            cursor.execute("COMMIT")
            cursor.db.close()


def resume(a: Tenant, broadcast: Broadcast) -> None:
    answer = a.workspace_api.post(f"/broadcasts/{broadcast.uuid}/resume", {})
    assert answer.status_code == 200, answer.content
    work()
    broadcast.refresh_from_db()
    assert (broadcast.status, broadcast.is_prepared, broadcast.recipients_count) == ("sending", True, PEOPLE)
    check_counts(broadcast)


def test_a_broadcast_whose_preparation_is_killed_is_paused_and_others_are_prepared(
    a: Tenant, preloaded: Preloaded
) -> None:
    message = templated(a)
    many_contacts(a, PEOPLE)
    with next_number("broadcasts_broadcast"):
        deadly = scheduled(a, message=message)
    others = [scheduled(a, message=message, name=f"Sale {n}") for n in range(2)]

    kills = kills_of(preloaded, "send_broadcasts", at="INSERT INTO broadcasts_recipient", value=DEADLY)

    deadly.refresh_from_db()
    assert (kills, deadly.status, deadly.paused_reason) == (MOST_TRIES, "paused", BROKE_OFF)
    assert (deadly.is_prepared, Recipient.objects.of(deadly).exists()) == (False, False)
    for other in others:
        other.refresh_from_db()
        assert (other.status, other.is_prepared, other.recipients_count) == ("sending", True, PEOPLE)
    assert notified(deadly) == {"broadcast.paused", "workspace.broadcast_paused"}
    assert set_aside("broadcast preparation") == {str(DEADLY)}
    assert kills_of(preloaded, "send_broadcasts", at="INSERT INTO broadcasts_recipient", value=DEADLY) == 0

    resume(a, deadly)
    assert not BegunWork.objects.exists()


def test_a_broadcast_whose_beginning_is_killed_is_paused_and_others_begin(a: Tenant, preloaded: Preloaded) -> None:
    message = templated(a)
    a_message_template(a.channel, text="Hello {{1}}", name="deadly", status="approved", parameters=[BODY_PARAMETER])
    many_contacts(a, PEOPLE)
    deadly = scheduled(a, message=filled("Hello") | {"template": "deadly"})
    other = scheduled(a, message=message)

    kills = kills_of(preloaded, "send_broadcasts", at='"channelconnect_messagetemplate"', value="deadly")

    deadly.refresh_from_db()
    other.refresh_from_db()
    assert (kills, deadly.status, deadly.paused_reason) == (MOST_TRIES, "paused", BROKE_OFF)
    assert (other.status, other.is_prepared, other.recipients_count) == ("sending", True, PEOPLE)
    assert notified(deadly) == {"broadcast.paused", "workspace.broadcast_paused"}
    assert set_aside("broadcast") == {str(deadly.pk)}

    resume(a, deadly)


def test_one_that_somebody_had_paused_says_that_its_preparation_broke_off(a: Tenant, preloaded: Preloaded) -> None:
    many_contacts(a, PEOPLE)
    with next_number("broadcasts_broadcast"):
        deadly = scheduled(a, message=templated(a))
    kills_of(preloaded, "send_broadcasts", at="INSERT INTO broadcasts_recipient", value=DEADLY)
    Broadcast.objects.update(status="paused", paused_reason=None, broke_off_at=None)
    NotificationEvent.objects.all().delete()

    work()

    deadly.refresh_from_db()
    assert (deadly.status, deadly.paused_reason, notified(deadly) != set()) == ("paused", BROKE_OFF, True)


def test_connections_that_prepare_a_broadcast_at_once_are_not_taken_for_dead(a: Tenant) -> None:
    """Two of them prepare it; those who come meanwhile go away again, and count nothing."""
    many_contacts(a, PEOPLE)
    broadcast = scheduled(a, message=templated(a))
    begin_due_broadcasts(now=now())
    with ThreadPoolExecutor(1) as pool, holding("broadcasts_recipient"):
        busy = pool.submit(at_once, lambda _: work(2), times=2)
        wait_for_lock("relation", number=2)
        at_once(lambda _: work(2), times=3)
        begun = {str(broadcast.pk): 1, f"{broadcast.pk} beside": 1}
        assert dict(BegunWork.objects.values_list("key", "tries")) == begun
    busy.result()
    broadcast.refresh_from_db()
    assert (broadcast.status, broadcast.is_prepared, broadcast.recipients_count) == ("sending", True, PEOPLE)
    assert not BegunWork.objects.exists()
