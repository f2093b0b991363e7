"""Our subscriptions at providers. A subscription that must be ended is recorded before any provider is called.

Several channels may share a subscription: the numbers of a WhatsApp business account, or a Page's Messenger and its
Instagram account. `unsubscribing` ends subscriptions that no channel of any workspace uses.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models.functions import Now

from channelconnect.models import ChannelCredential, ConnectSession, Unsubscription
from channelconnect.models.unsubscriptions import Reason, Status
from channelconnect.providers import Account, Grant
from channelconnect.services.allowance_keys import uses_taken_along
from config.encryption import UnreadableSecret
from config.errors import Conflict
from config.postgresql.concurrency import AdvisoryLock
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
def expected_subscription(*, session: ConnectSession, account: Account, grant: Grant) -> Iterator[Unsubscription]:
    """Record a subscription to end unless the block saves its channel, however the block ends.

    If the process dies inside the block, the row stays and is due in ten minutes. Raises `AccountBusy`.
    """
    row = _expect(session, account, grant)
    try:
        yield row
    finally:
        own = Unsubscription.objects.filter(pk=row.pk, status=Status.SUBSCRIBING)
        own.update(status=Status.WAITING, due_at=Now())


@transaction.atomic
def _expect(session: ConnectSession, account: Account, grant: Grant) -> Unsubscription:
    lock_container(account.container_id)
    waiting = Unsubscription.objects.filter(container_id=account.container_id, status=Status.WAITING)
    if waiting.filter(in_flight_until__gt=Now()).exists():
        raise AccountBusy
    return Unsubscription.objects.create(
        workspace=session.workspace,
        connection_id=session.uuid,
        platform=session.platform,
        container_id=account.container_id,
        token=account.token or grant.token,
        reason=Reason.NOT_SAVED,
        status=Status.SUBSCRIBING,
        created_at=Now(),
        due_at=Now() + SAVING,
    )


def keep_subscription(row: Unsubscription) -> None:
    """Keep the subscription: the caller's transaction saves its channel. Raises `AccountBusy` if it is too late."""
    kept, _ = Unsubscription.objects.filter(pk=row.pk, status=Status.SUBSCRIBING).delete()
    if not kept:
        raise AccountBusy


def release_access(*, channel: Channel, now: datetime, reason: Reason = Reason.DISCONNECTED) -> None:
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
        status=Status.WAITING,
        created_at=now,
        due_at=Now(),
    )
    with uses_taken_along(channel):
        credentials.delete()


def _token_of(credential: ChannelCredential) -> str | None:
    """Return the token; None if its encryption key is gone. The channel is released all the same."""
    try:
        return credential.token
    except UnreadableSecret:
        return None
