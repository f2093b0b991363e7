"""Somebody writes to what a dead sender had claimed, just when another one frees it."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from django.db import transaction
from django.utils.timezone import now

from broadcasts.models import Recipient, Stage
from broadcasts.services.tracking.clicks import count_clicks, record_clicks
from broadcasts.services.tracking.links import Target
from tests.waiting import wait_for_lock


@contextmanager
def clicked_while_freed(*, of: int | None = None, runs: Collection[int] | None = None) -> Iterator[None]:
    """Count clicks of so many (of all) who are claimed, by any run or by these; the block has them freed.

    Whoever frees them waits for the transaction of the clicks, which then commits: the rows have moved.
    """
    claimed = Recipient.objects.filter(stage=Stage.CLAIMED).order_by("pk")
    if runs is not None:
        claimed = claimed.filter(run__in=runs)
    keys = list(claimed.values_list("pk", flat=True)[:of])
    assert keys
    record_clicks([Target(broadcast, contact, 0) for broadcast, contact in keys])
    with transaction.atomic():
        count_clicks(now=now())
        yield
        wait_for_lock("transactionid")
