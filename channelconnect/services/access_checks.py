"""Asks a provider whether a channel's token is still good, after the answer to a send cast doubt on it.

The credential's row is the queue. An answer holds for an hour; a doubt within it is the message's own fault.
"""

import logging
from collections.abc import Collection
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce

from agency.actors import SYSTEM
from channelconnect.models import ChannelCredential
from channelconnect.providers import Limits, ProviderFault, provider_for
from config.db import TimeOrExpression
from config.encryption import UnreadableSecret
from config.tries.counting import Try, begin_next, run_begun
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import mark_channel_lost

logger = logging.getLogger(__name__)

# The rows are the retries.
LIMITS: Final = Limits(read=8.0, whole=10.0, operation=10.0, attempts=1)
# A check that died or got no answer is repeated after this time.
AGAIN: Final = timedelta(seconds=30)
HOLDS: Final = timedelta(hours=1)
KIND: Final = "access check"
REASON: Final = "access_not_confirmed"


def request_access_checks(channels: Collection[int], *, now: datetime) -> None:
    """Have these channels' tokens checked within seconds. A check that is due already stays due."""
    rows = ChannelCredential.objects.filter(channel__in=channels).order_by("pk").select_for_update(no_key=True)
    found = list(rows.values_list("pk", flat=True))
    ChannelCredential.objects.filter(pk__in=found).update(access_check_due_at=Coalesce(F("access_check_due_at"), now))


def checked_lately(channels: Collection[int], *, now: datetime) -> frozenset[int]:
    """Return the channels whose tokens the provider confirmed within the hour."""
    rows = ChannelCredential.objects.filter(channel__in=channels, access_checked_at__gt=now - HOLDS)
    return frozenset(rows.values_list("channel_id", flat=True))


def check_next_access(*, now: datetime) -> bool:
    """Check the token that has been due for longest. Returns whether any was due."""
    begun = _take(now)
    if begun is None:
        return False
    credential, this_try = begun
    run_begun(this_try, partial(_check, credential, now), give_up=partial(_give_up, credential), counts_faults=True)
    return True


def _check(credential: ChannelCredential, now: datetime) -> None:
    channel = credential.channel
    try:
        token = credential.token
    except UnreadableSecret:
        token = None
    try:
        ids = (channel.external_id, credential.container_id)
        is_good = bool(token) and provider_for(channel.platform, limits=LIMITS).may_send(token=token or "", ids=ids)
    except ProviderFault as fault:
        log = {**fault.log, "channel": channel.pk, "code": fault.code}
        logger.warning("a channel's access could not be checked", extra=log)
    else:
        _record(channel, is_good=is_good, now=now)


def _give_up(credential: ChannelCredential) -> None:
    """Stop checking until something casts doubt on the token again."""
    ChannelCredential.objects.filter(pk=credential.pk).update(access_check_due_at=None)


def due_access_checks(now: TimeOrExpression) -> "QuerySet[ChannelCredential]":
    """Return the credentials to check, in their order."""
    return ChannelCredential.objects.filter(access_check_due_at__lte=now).order_by("access_check_due_at")


@transaction.atomic
def _take(now: datetime) -> tuple[ChannelCredential, Try] | None:
    """Take a check. Nobody else takes it until it is due again."""
    rows = due_access_checks(now).select_related("channel__workspace")
    locked = rows.select_for_update(of=("self",), skip_locked=True)
    begun = begin_next(locked, kind=KIND)
    if begun is not None:
        ChannelCredential.objects.filter(pk=begun[0].pk).update(access_check_due_at=now + AGAIN)
    return begun


@transaction.atomic
def _record(channel: Channel, *, is_good: bool, now: datetime) -> None:
    """Record the provider's answer, unless the channel was connected again meanwhile."""
    locked = Channel.objects.select_for_update(no_key=True).filter(pk=channel.pk, connected_at=channel.connected_at)
    if not locked.exists():
        return
    answered = {"access_checked_at": now} if is_good else {}
    ChannelCredential.objects.filter(channel=channel).update(access_check_due_at=None, **answered)
    if not is_good:
        mark_channel_lost(channel=channel, reason=REASON, now=now, by=SYSTEM)
