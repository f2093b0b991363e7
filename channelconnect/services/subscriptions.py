"""What we subscribe to at providers: what is to be taken back is written down before a provider is asked.

Several channels may hang on one subscription: the numbers of a WhatsApp business account, a Page's Messenger and its
Instagram account. `unsubscribing` takes back what no channel of any workspace uses.
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
from config.postgresql.advisory_locks import AdvisoryLock
from workspaces.subaccounts.models import Channel

# Longer than any step of the flow may take: a choice that was not saved by then never will be.
SAVING = timedelta(minutes=10)
LOCK = "SELECT pg_advisory_xact_lock(%s, hashtext(%s))"


class AccountBusy(Conflict):
    """This account's subscription is being taken back at this very moment."""


def lock_container(container_id: str) -> None:
    """Let one transaction at a time decide about a subscription; the caller is inside one, and reads after this."""
    with connection.cursor() as cursor:
        cursor.execute(LOCK, [AdvisoryLock.CONTAINER.value, container_id])


@contextmanager
def expected_subscription(*, session: ConnectSession, account: Account, grant: Grant) -> Iterator[Unsubscription]:
    """Write down what is to be taken back unless the block saves its channel, however the block ends.

    A process that dies inside it leaves the row, which is due in ten minutes. Raises `AccountBusy`.
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
    """Nothing is to be taken back: the caller's transaction saves the channel. Raises `AccountBusy` when it is late."""
    kept, _ = Unsubscription.objects.filter(pk=row.pk, status=Status.SUBSCRIBING).delete()
    if not kept:
        raise AccountBusy


def release_access(*, channel: Channel, now: datetime, reason: Reason = Reason.DISCONNECTED) -> None:
    """Forget a channel's token; a task tells the provider, with the copy that the task forgets in its turn."""
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
    """Give the token, None where its encryption key is gone: the channel is given up all the same."""
    try:
        return credential.token
    except UnreadableSecret:
        return None
