"""What providers send: stored as it came, at once; read afterwards, each notice once."""

import hashlib
import logging
from collections import Counter
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet

from agency.actors import Actor
from channelconnect.models import ProviderNotice
from channelconnect.providers import ProviderEvent, UnreadableNotices, read_notices
from channelconnect.providers.notices import AccountLost, Unknown
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import mark_channel_lost

logger = logging.getLogger(__name__)

A_SECOND = timedelta(seconds=1)  # providers give whole ones
BATCH = 100
MOST_TRIES = 5
STORE = """
INSERT INTO channelconnect_providernotice (received_at, digest, body, tries, fault) VALUES (%s, %s, %s, 0, '')
ON CONFLICT (digest) DO NOTHING RETURNING id
"""


def store_notice(*, body: bytes, now: datetime) -> bool:
    """Keep a signed callback, in one statement; False where the same body came before."""
    with connection.cursor() as cursor:
        cursor.execute(STORE, [now, hashlib.sha256(body).digest(), body])
        return cursor.fetchone() is not None


def read_next_notices(*, now: datetime, by: Actor, batch: int = BATCH) -> int:
    """Read the oldest unread notices, each in a transaction of its own and once; says how many this call has read.

    A notice that breaks its reader is tried five times; whatever came after it waits for the next call only.
    """
    unread = ProviderNotice.objects.filter(read_at=None, tries__lt=MOST_TRIES).order_by("id")
    return sum(_read_one(pk, now, by) for pk in list(unread.values_list("pk", flat=True)[:batch]))


def _read_one(pk: int, now: datetime, by: Actor) -> bool:
    mine = ProviderNotice.objects.filter(pk=pk, read_at=None)
    mine.update(tries=F("tries") + 1)
    with transaction.atomic():
        notice = mine.select_for_update(skip_locked=True).first()
        if notice is None:
            return False
        notice.read_at, notice.fault = now, _read(notice, by)
        notice.save(update_fields=["read_at", "fault"])
    return True


def _read(notice: ProviderNotice, by: Actor) -> str:
    """Do what a notice asks for; what is not understood is counted in the log. Says what was wrong with it."""
    try:
        facts = read_notices(bytes(notice.body))
    except UnreadableNotices as error:
        return str(error)
    for fact in facts:
        if isinstance(fact, AccountLost):
            _lose(fact, fact.at or notice.received_at, by)
    unknown = Counter(fact.kind for fact in facts if isinstance(fact, Unknown))
    if unknown:
        logger.info("provider notices of other kinds", extra={"kinds": dict(unknown)})
    return ""


def _lose(fact: AccountLost, at: datetime, by: Actor) -> None:
    """Mark the channels `error` that were connected before the account, or all of its container, was taken away."""
    lost = (
        _channels_of(fact)
        .filter(status=Channel.Status.ACTIVE, connected_at__lt=at + A_SECOND)
        .select_related("workspace")
    )
    for channel in lost.order_by("id"):
        mark_channel_lost(channel=channel, reason=fact.reason, by=by)


def _channels_of(fact: ProviderEvent) -> "QuerySet[Channel]":
    named = Q(external_id=fact.account_id) if fact.account_id else Q()
    if fact.container_id and fact.account_id in ("", fact.container_id):
        named |= Q(credential__container_id=fact.container_id)
    channels = Channel.objects.filter(named) if named else Channel.objects.none()
    return channels.filter(platform=fact.platform) if fact.platform else channels
