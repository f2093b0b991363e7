"""Our subscriptions at providers, and their end when no channel uses them.

A subscription that must be ended is recorded before any provider is called. Several channels may share a
subscription: the numbers of a WhatsApp business account, or a Page's Messenger and its Instagram account.
`unsubscribe_next` ends subscriptions that no channel of any workspace uses.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from channelconnect.models import ChannelCredential, ConnectSession, Unsubscription
from channelconnect.models.channels import OPEN, UnsubscriptionReason, UnsubscriptionStatus
from channelconnect.providers.grants import Account, Grant
from channelconnect.providers.graph import ProviderFault
from channelconnect.providers.platforms import provider_for
from channelconnect.providers.transport import CallTimeouts
from channelconnect.services.allowance_keys import carry_uses_over
from config.db import TimeOrExpression
from config.encryption import UnreadableSecret
from config.errors import Conflict
from config.postgresql.concurrency import AdvisoryLock
from config.tries.counting import run_counted
from workspaces.subaccounts.models import Channel

# Longer than any step of the flow takes. A choice that was not saved by then never will be.
SAVING = timedelta(minutes=10)
LOCK = "SELECT pg_advisory_xact_lock(%s, hashtext(%s))"


class AccountBusy(Conflict):
    """This account's subscription is being ended at this moment."""


def lock_container(container_id: str) -> None:
    """Let only one transaction at a time decide about a subscription. Call it in a transaction, before its reads."""
    with connection.cursor() as cursor:
        cursor.execute(LOCK, [AdvisoryLock.CONTAINER.value, container_id])


@contextmanager
def subscription_to_undo(*, session: ConnectSession, account: Account, grant: Grant) -> Iterator[Unsubscription]:
    """Record a subscription to end unless the block saves its channel, however the block ends.

    If the process dies inside the block, the row stays and is due in ten minutes. Raises `AccountBusy`.
    """
    row = _expect(session, account, grant)
    try:
        yield row
    finally:
        own = Unsubscription.objects.filter(pk=row.pk, status=UnsubscriptionStatus.SUBSCRIBING)
        own.update(status=UnsubscriptionStatus.WAITING, due_at=Now())


@transaction.atomic
def _expect(session: ConnectSession, account: Account, grant: Grant) -> Unsubscription:
    lock_container(account.container_id)
    waiting = Unsubscription.objects.filter(container_id=account.container_id, status=UnsubscriptionStatus.WAITING)
    if waiting.filter(in_flight_until__gt=Now()).exists():
        raise AccountBusy
    return Unsubscription.objects.create(
        workspace=session.workspace,
        connection_id=session.uuid,
        platform=session.platform,
        container_id=account.container_id,
        token=account.token or grant.token,
        reason=UnsubscriptionReason.NOT_SAVED,
        status=UnsubscriptionStatus.SUBSCRIBING,
        created_at=Now(),
        due_at=Now() + SAVING,
    )


def keep_subscription(row: Unsubscription) -> None:
    """Keep the subscription: the caller's transaction saves its channel. Raises `AccountBusy` if it is too late."""
    kept, _ = Unsubscription.objects.filter(pk=row.pk, status=UnsubscriptionStatus.SUBSCRIBING).delete()
    if not kept:
        raise AccountBusy


def release_access(
    *, channel: Channel, now: datetime, reason: UnsubscriptionReason = UnsubscriptionReason.DISCONNECTED
) -> None:
    """Erase a channel's token. A task ends the subscription with a copy of the token, and erases that too."""
    credentials = ChannelCredential.objects.filter(channel=channel)
    credential = credentials.defer("token").first()
    if credential is None:
        return
    Unsubscription.objects.create(
        workspace=channel.workspace,
        channel=channel,
        platform=channel.platform,
        container_id=credential.container_id,
        token=_token_of(credential),
        reason=reason,
        status=UnsubscriptionStatus.WAITING,
        created_at=now,
        due_at=Now(),
    )
    with carry_uses_over(channel):
        credentials.delete()


def _token_of(credential: ChannelCredential) -> str | None:
    """Return the token; None if its encryption key is gone. The channel is released all the same."""
    try:
        return credential.token
    except UnreadableSecret:
        return None


# The end of a subscription is retried with growing pauses, and given up in the end.

logger = logging.getLogger(__name__)

KIND: Final = "unsubscription"
# The rows are the retries.
UNSUBSCRIBE_LIMITS = CallTimeouts(read=8.0, whole=10.0, operation=10.0, attempts=1)
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
        give_up = partial(_end, claimed, UnsubscriptionStatus.GIVEN_UP, "broke_off")
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
        _end(row, UnsubscriptionStatus.GIVEN_UP, "broke_off")
        return None
    is_live, is_chosen = _uses(row, now)
    if is_live:
        _end(row, UnsubscriptionStatus.STILL_USED)
        return None
    if is_chosen:
        row.due_at = now + A_MOMENT
        row.save(update_fields=["due_at"])
        return None
    row.status, row.tries = UnsubscriptionStatus.WAITING, row.tries + 1
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
    choices = others.filter(status=UnsubscriptionStatus.SUBSCRIBING, due_at__gt=now)
    looked = Unsubscription.objects.filter(pk=row.pk).annotate(is_live=Exists(live), is_chosen=Exists(choices))
    is_live, is_chosen = looked.values_list("is_live", "is_chosen").get()
    return is_live, is_chosen


def _take_back(row: Unsubscription) -> None:
    """Call the provider and record the answer, outside any transaction."""
    try:
        provider = provider_for(row.platform, limits=UNSUBSCRIBE_LIMITS)
        provider.unsubscribe(container_id=row.container_id, token=_require_token(row))
    except ProviderFault as fault:
        _record_fault(row, fault)
    else:
        _end(row, UnsubscriptionStatus.UNSUBSCRIBED)


def _require_token(row: Unsubscription) -> str:
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
        _end(row, UnsubscriptionStatus.REFUSED if is_final else UnsubscriptionStatus.GIVEN_UP, fault.code)
    else:
        _mine(row).update(fault=fault.code)


def _end(row: Unsubscription, status: UnsubscriptionStatus, fault: str = "") -> None:
    _mine(row).update(status=status, fault=fault, token=None, ended_at=Now(), in_flight_until=None)


def _mine(row: Unsubscription) -> "QuerySet[Unsubscription]":
    """Return the row unless it was tried again since."""
    return Unsubscription.objects.filter(pk=row.pk, tries=row.tries, status__in=OPEN)
