"""Applies providers' facts about accounts to their channels, and checks whether channels still have access."""

import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from operator import itemgetter
from typing import Final, TypeVar

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce

from agency.actors import SYSTEM
from channelconnect.models import ChannelCredential
from channelconnect.providers.graph import ProviderFault
from channelconnect.providers.message_results import ERRORS
from channelconnect.providers.notices.events import AccountAccessChanged, LimitChanged, ProviderEvent, QualityChanged
from channelconnect.providers.platforms import provider_for
from channelconnect.providers.transport import CallTimeouts
from config.db import TimeOrExpression
from config.encryption import UnreadableSecret
from config.tries.counting import Try, begin_next, run_begun
from workspaces.conversations.facts import MarketingPreferenceChanged, StatusChanged
from workspaces.conversations.services import inbound
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import change_channel_limit, mark_channel_lost, reconnect_channel
from workspaces.subaccounts.services.channels import UNCHANGED

# Only numbers that stay in the WhatsApp Business app are offboarded, not others of their business account.
OFFBOARDED: Final = "ACCOUNT_OFFBOARDED"
A_SECOND = timedelta(seconds=1)  # providers give whole seconds
Event = TypeVar("Event", bound=ProviderEvent)
NO_DIGIT = re.compile(r"\D")


def change_access(facts: Sequence[AccountAccessChanged], *, now: datetime) -> None:
    """Mark channels `error` if they were connected before their account, or all of its container, was lost.

    Those that were lost because the WhatsApp Business app moved to another phone become active again with it. Facts
    count in the order of their times. A callback from before the last connection comes late, and does not count.
    """
    for found, told in _concerned(facts, _is_since_connection):
        channel = found
        for fact in told:
            if fact.is_lost:
                _lose(channel, fact, now)
            else:
                channel = _regain(channel, now)


def _lose(channel: Channel, fact: AccountAccessChanged, now: datetime) -> None:
    is_elsewhere = fact.reason == OFFBOARDED and not channel.is_on_business_app
    if channel.status == Channel.Status.ACTIVE and not is_elsewhere:
        mark_channel_lost(channel=channel, reason=fact.reason, now=now, by=SYSTEM)


def _regain(channel: Channel, now: datetime) -> Channel:
    if channel.status != Channel.Status.ERROR or channel.lost_reason != OFFBOARDED:
        return channel
    return reconnect_channel(
        channel=channel,
        name=channel.name,
        handle=channel.handle,
        messaging_limit=channel.messaging_limit,
        quality=channel.quality,
        told_at=channel.limit_told_at or channel.connected_at,
        is_on_business_app=channel.is_on_business_app,
        now=now,
        by=SYSTEM,
    )


def change_limits(facts: Sequence[LimitChanged], *, now: datetime) -> None:
    """Save a portfolio's limit with each of its numbers; the newest of several counts.

    `change_channel_limit` ignores what is older than the channel's own limit.
    """
    for channel, found in _concerned(facts):
        newest = found[-1]
        change_channel_limit(channel=channel, messaging_limit=newest.messaging_limit, told_at=newest.at, now=now)


def change_qualities(facts: Sequence[QualityChanged], *, now: datetime) -> None:
    """Save a number's quality, with the limit or throughput. The notice names the number as people write it."""
    for channel, found in _concerned(facts, _is_shown):
        for fact in found:
            if fact.throughput and _is_since_connection(channel, fact):
                ChannelCredential.objects.filter(channel=channel).update(throughput=fact.throughput)
            if fact.has_limit or fact.quality:
                limit = fact.messaging_limit if fact.has_limit else UNCHANGED
                change_channel_limit(
                    channel=channel, messaging_limit=limit, quality=fact.quality, told_at=fact.at, now=now
                )


def _is_since_connection(channel: Channel, fact: ProviderEvent) -> bool:
    return fact.at is not None and fact.at + A_SECOND > channel.connected_at


def _is_shown(channel: Channel, fact: QualityChanged) -> bool:
    return NO_DIGIT.sub("", channel.handle) == NO_DIGIT.sub("", fact.shown) != ""


def _concerned(
    facts: Sequence[Event], is_meant: Callable[[Channel, Event], bool] = lambda channel, fact: True
) -> Iterator[tuple[Channel, list[Event]]]:
    """Yield the channels that facts are about, by id, each with its facts, oldest first."""
    dated = sorted(((fact.at, fact) for fact in facts if fact.at), key=itemgetter(0))
    for channel in _channels(facts):
        meant = [fact for _, fact in dated if _names(fact, channel) and is_meant(channel, fact)]
        if meant:
            yield channel, meant


def _channels(facts: Iterable[ProviderEvent]) -> Iterable[Channel]:
    accounts = {fact.account_id for fact in facts if fact.account_id}
    containers = {fact.container_id for fact in facts if fact.container_id}
    named = Q(external_id__in=accounts) | Q(credential__container_id__in=containers)
    connected = Channel.objects.filter(named).exclude(status=Channel.Status.DISCONNECTED)
    return connected.select_related("workspace", "credential").order_by("id")


def _names(fact: ProviderEvent, channel: Channel) -> bool:
    """Whether a fact is about a channel: it names the channel's account, or its whole container."""
    if fact.platform not in ("", channel.platform):
        return False
    if fact.account_id and fact.account_id == channel.external_id:
        return True
    credential = getattr(channel, "credential", None)
    is_of_all = fact.container_id != "" and fact.account_id in ("", fact.container_id)
    return is_of_all and credential is not None and credential.container_id == fact.container_id


# The credential's row is the queue. An answer holds for an hour; a doubt within it is the message's own fault.

logger = logging.getLogger(__name__)

# The rows are the retries.
ACCESS_CHECK_LIMITS: Final = CallTimeouts(read=8.0, whole=10.0, operation=10.0, attempts=1)
# A check that died or got no answer is repeated after this time.
RETRY_CHECK_AFTER: Final = timedelta(seconds=30)
CHECK_VALID_FOR: Final = timedelta(hours=1)
KIND: Final = "access check"
REASON: Final = "access_not_confirmed"


def request_access_checks(channels: Collection[int], *, now: datetime) -> None:
    """Have these channels' tokens checked within seconds. A check that is due already stays due."""
    rows = ChannelCredential.objects.filter(channel__in=channels).order_by("pk").select_for_update(no_key=True)
    found = list(rows.values_list("pk", flat=True))
    ChannelCredential.objects.filter(pk__in=found).update(access_check_due_at=Coalesce(F("access_check_due_at"), now))


def checked_lately(channels: Collection[int], *, now: datetime) -> frozenset[int]:
    """Return the channels whose tokens the provider confirmed within the hour."""
    rows = ChannelCredential.objects.filter(channel__in=channels, access_checked_at__gt=now - CHECK_VALID_FOR)
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
        is_good = bool(token) and provider_for(channel.platform, limits=ACCESS_CHECK_LIMITS).may_send(
            token=token or "", ids=ids
        )
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
        ChannelCredential.objects.filter(pk=begun[0].pk).update(access_check_due_at=now + RETRY_CHECK_AFTER)
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


def record_marketing_opt_outs(facts: Sequence[StatusChanged], *, now: datetime) -> None:
    """Record that these people want no marketing, from when their messages failed."""
    told = [
        MarketingPreferenceChanged(channel=fact.channel, person=fact.person, at=fact.at, wants_marketing=False)
        for fact in facts
        if fact.status == "failed" and _opts_out(fact.error_code)
    ]
    if told:
        inbound.change_marketing_preferences(told, now=now)


def _opts_out(code: str) -> bool:
    error = ERRORS.get(code)
    return error is not None and error.opts_out
