"""Ends subscriptions that no channel uses. It retries with growing pauses, and gives up in the end."""

import logging
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from channelconnect.models import ChannelCredential, Unsubscription
from channelconnect.models.unsubscriptions import OPEN, Status
from channelconnect.providers import Limits, ProviderFault, provider_for
from channelconnect.services.subscriptions import lock_container
from config.db import TimeOrExpression
from config.encryption import UnreadableSecret
from config.tries.counting import run_counted
from workspaces.subaccounts.models import Channel

logger = logging.getLogger(__name__)

KIND: Final = "unsubscription"
# The rows are the retries.
LIMITS = Limits(read=8.0, whole=10.0, operation=10.0, attempts=1)
# No call runs for longer than this, even if its process died.
IN_FLIGHT = timedelta(minutes=1)
FIRST_PAUSE = timedelta(minutes=1)
LONGEST_PAUSE = timedelta(hours=6)
# Some 30 hours in all.
MOST_TRIES = 10
A_MOMENT = timedelta(seconds=15)
# The account is gone, or the token is dead or no longer allowed. Another try would get the same answer.
FINAL = frozenset({"credentials_expired", "subscription_failed"})


def unsubscribe_next(*, now: datetime) -> bool:
    """End the subscription that has been due for longest, unless it is in use. Returns whether any was due."""
    found = due_unsubscriptions(now).values_list("pk", "container_id").first()
    if found is None:
        return False
    claimed = _claim(*found, now)
    if claimed is not None:
        give_up = partial(_end, claimed, Status.GIVEN_UP, "broke_off")
        run_counted(partial(_take_back, claimed), kind=KIND, key=claimed.pk, give_up=give_up)
    return True


def due_unsubscriptions(now: TimeOrExpression) -> "QuerySet[Unsubscription]":
    """Return the subscriptions to end, in their order."""
    return Unsubscription.objects.filter(status__in=OPEN, due_at__lte=now).order_by("due_at", "id")


@transaction.atomic
def _claim(pk: int, container_id: str, now: datetime) -> Unsubscription | None:
    """Count a try and return the row; None if a channel uses the subscription, or may do so in a moment."""
    lock_container(container_id)
    locked = Unsubscription.objects.select_for_update(no_key=True).defer("token")
    row = locked.filter(pk=pk, status__in=OPEN, due_at__lte=now).first()
    if row is None:
        return None
    if row.tries >= MOST_TRIES:  # the last try died
        _end(row, Status.GIVEN_UP, "broke_off")
        return None
    is_live, is_chosen = _uses(row, now)
    if is_live:
        _end(row, Status.STILL_USED)
        return None
    if is_chosen:
        row.due_at = now + A_MOMENT
        row.save(update_fields=["due_at"])
        return None
    row.status, row.tries = Status.WAITING, row.tries + 1
    row.due_at = now + min(FIRST_PAUSE * 4 ** (row.tries - 1), LONGEST_PAUSE)
    row.in_flight_until = now + IN_FLIGHT
    row.save(update_fields=["status", "tries", "due_at", "in_flight_until"])
    return row


def _uses(row: Unsubscription, now: datetime) -> tuple[bool, bool]:
    """Say whether a channel uses the subscription, and whether another choice of it is being saved.

    It is one statement, so that a choice saved meanwhile counts as one or the other.
    """
    credentials = ChannelCredential.objects.filter(container_id=OuterRef("container_id"))
    live = credentials.exclude(channel__status=Channel.Status.DISCONNECTED)
    others = Unsubscription.objects.filter(container_id=OuterRef("container_id")).exclude(pk=row.pk)
    choices = others.filter(status=Status.SUBSCRIBING, due_at__gt=now)
    looked = Unsubscription.objects.filter(pk=row.pk).annotate(is_live=Exists(live), is_chosen=Exists(choices))
    is_live, is_chosen = looked.values_list("is_live", "is_chosen").get()
    return is_live, is_chosen


def _take_back(row: Unsubscription) -> None:
    """Call the provider and record the answer, outside any transaction."""
    try:
        provider = provider_for(row.platform, limits=LIMITS)
        provider.unsubscribe(container_id=row.container_id, token=_token_of(row))
    except ProviderFault as fault:
        _record_fault(row, fault)
    else:
        _end(row, Status.UNSUBSCRIBED)


def _token_of(row: Unsubscription) -> str:
    try:
        token = row.token
    except UnreadableSecret:
        token = None
    if token is None:
        raise ProviderFault("credentials_expired", reason="token_unreadable")
    return token


def _record_fault(row: Unsubscription, fault: ProviderFault) -> None:
    is_final, is_last = fault.code in FINAL, row.tries >= MOST_TRIES
    log = {**fault.log, "unsubscription": str(row.uuid), "code": fault.code, "tries": row.tries}
    logger.warning("subscription not taken back", extra=log)
    if is_final or is_last:
        _end(row, Status.REFUSED if is_final else Status.GIVEN_UP, fault.code)
    else:
        _mine(row).update(fault=fault.code)


def _end(row: Unsubscription, status: Status, fault: str = "") -> None:
    _mine(row).update(status=status, fault=fault, token=None, ended_at=Now(), in_flight_until=None)


def _mine(row: Unsubscription) -> "QuerySet[Unsubscription]":
    """Return the row unless it was tried again since."""
    return Unsubscription.objects.filter(pk=row.pk, tries=row.tries, status__in=OPEN)
