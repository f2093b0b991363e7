"""A broadcast's counts: the sum of its buckets, whoever wrote them."""

import pytest
from django.db import connection

from broadcasts.models import Broadcast, BroadcastCount
from broadcasts.services.counts import COUNTS, add_counts, counts_of

pytestmark = pytest.mark.django_db


def counts(broadcast: int) -> dict[str, int]:
    [found] = counts_of([Broadcast(pk=broadcast)]).values()
    return {name: number for name, number in found.items() if number}


def test_differences_add_up_over_all_buckets() -> None:
    add_counts({7: {"pending": 10, "skipped": 2}, 8: {"pending": 1}})
    add_counts({7: {"pending": -3, "sent": 3}, 9: {"sent": 0}})
    BroadcastCount.objects.create(broadcast_id=7, bucket=99, pending=-1, failed=1)

    assert counts(7) == {"pending": 6, "skipped": 2, "sent": 3, "failed": 1}
    assert counts(8) == {"pending": 1}
    assert not BroadcastCount.objects.filter(broadcast_id=9).exists()  # nothing changed: nothing written


def test_a_workers_own_connection_counts_too() -> None:
    with connection.cursor() as cursor:
        add_counts({7: dict.fromkeys(COUNTS, 2)}, cursor=cursor.cursor)

    assert counts(7) == dict.fromkeys(COUNTS, 2)


def test_one_that_nobody_has_counted_stands_at_zero() -> None:
    assert counts_of([]) == {}
    assert counts_of([Broadcast(pk=1)]) == {1: dict.fromkeys(COUNTS, 0)}
