"""Applies providers' facts about accounts to their channels: an account is lost, or its limit or quality changes."""

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

A_SECOND = timedelta(seconds=1)  # providers give whole seconds
Event = TypeVar("Event", bound=ProviderEvent)
NO_DIGIT = re.compile(r"\D")


def lose_accounts(facts: Sequence[AccountLost], *, now: datetime) -> None:
    """Mark channels `error` if they were connected before their account, or all of its container, was lost."""
    for channel, [fact, *_] in _concerned(facts):
        if channel.status == Channel.Status.ACTIVE:
            mark_channel_lost(channel=channel, reason=fact.reason, now=now, by=SYSTEM)


def change_limits(facts: Sequence[LimitChanged], *, now: datetime) -> None:
    """Save a portfolio's limit with each of its numbers; the newest of several counts."""
    for channel, found in _concerned(facts):
        newest = found[-1]
        change_channel_limit(channel=channel, messaging_limit=newest.messaging_limit, told_at=newest.at, now=now)


def change_qualities(facts: Sequence[QualityChanged], *, now: datetime) -> None:
    """Save a number's quality, with the limit or throughput. The notice names the number as people write it."""
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
    """Yield the channels that facts are about, by id, each with its facts, oldest first.

    A fact from before a channel was connected says nothing about it.
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
    """Whether a fact is about a channel: it names the channel's account, or its whole container."""
    if fact.platform not in ("", channel.platform):
        return False
    if fact.account_id and fact.account_id == channel.external_id:
        return True
    credential = getattr(channel, "credential", None)
    is_of_all = fact.container_id != "" and fact.account_id in ("", fact.container_id)
    return is_of_all and credential is not None and credential.container_id == fact.container_id
