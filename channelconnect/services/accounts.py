"""What providers tell about accounts, applied to their channels: they are lost, or their limit or quality changes."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from operator import itemgetter
from typing import TypeVar

from django.db.models import Q

from agency.actors import SYSTEM
from channelconnect.models import ChannelCredential
from channelconnect.providers.notices import AccountLost, LimitChanged, ProviderEvent, QualityChanged
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import change_channel_limit, mark_channel_lost
from workspaces.subaccounts.services.channels import UNCHANGED

A_SECOND = timedelta(seconds=1)  # providers give whole ones
Event = TypeVar("Event", bound=ProviderEvent)
NO_DIGIT = re.compile(r"\D")


def lose_accounts(facts: Sequence[AccountLost], *, now: datetime) -> None:
    """Mark the channels `error` that were connected before the account, or all of its container, was taken away."""
    for channel, [fact, *_] in _concerned(facts):
        if channel.status == Channel.Status.ACTIVE:
            mark_channel_lost(channel=channel, reason=fact.reason, now=now, by=SYSTEM)


def change_limits(facts: Sequence[LimitChanged], *, now: datetime) -> None:
    """Keep the limit of a portfolio with each of its numbers; of several, the newest."""
    for channel, found in _concerned(facts):
        newest = found[-1]
        change_channel_limit(channel=channel, messaging_limit=newest.messaging_limit, told_at=newest.at, now=now)


def change_qualities(facts: Sequence[QualityChanged], *, now: datetime) -> None:
    """Keep the quality of a number, which a notice names as people read it, and the limit or throughput with it."""
    for channel, found in _concerned(facts, _is_shown):
        for fact in found:
            if fact.throughput:
                ChannelCredential.objects.filter(channel=channel).update(throughput=fact.throughput)
            if fact.has_limit or fact.quality:
                limit = fact.messaging_limit if fact.has_limit else UNCHANGED
                change_channel_limit(
                    channel=channel, messaging_limit=limit, quality=fact.quality, told_at=fact.at, now=now
                )


def _is_shown(channel: Channel, fact: QualityChanged) -> bool:
    return NO_DIGIT.sub("", channel.handle) == NO_DIGIT.sub("", fact.shown) != ""


def _concerned(
    facts: Sequence[Event], is_meant: Callable[[Channel, Event], bool] = lambda channel, fact: True
) -> Iterator[tuple[Channel, list[Event]]]:
    """Give the channels that facts are about, in the order of their ids, each with its facts, the oldest first.

    What happened before a channel was connected says nothing about it.
    """
    dated = sorted(((fact.at, fact) for fact in facts if fact.at), key=itemgetter(0))
    for channel in _channels(facts):
        found = [fact for at, fact in dated if at + A_SECOND > channel.connected_at and _names(fact, channel)]
        meant = [fact for fact in found if is_meant(channel, fact)]
        if meant:
            yield channel, meant


def _channels(facts: Iterable[ProviderEvent]) -> Iterable[Channel]:
    accounts = {fact.account_id for fact in facts if fact.account_id}
    containers = {fact.container_id for fact in facts if fact.container_id}
    named = Q(external_id__in=accounts) | Q(credential__container_id__in=containers)
    connected = Channel.objects.filter(named).exclude(status=Channel.Status.DISCONNECTED)
    return connected.select_related("workspace", "credential").order_by("id")


def _names(fact: ProviderEvent, channel: Channel) -> bool:
    """Whether a fact is about a channel: by its account, or by all of the container that the account is in."""
    if fact.platform not in ("", channel.platform):
        return False
    if fact.account_id and fact.account_id == channel.external_id:
        return True
    credential = getattr(channel, "credential", None)
    is_of_all = fact.container_id != "" and fact.account_id in ("", fact.container_id)
    return is_of_all and credential is not None and credential.container_id == fact.container_id
