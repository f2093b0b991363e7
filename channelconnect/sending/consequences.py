"""Effects of an error beyond its message: a channel loses its access, or a person opts out of marketing."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from agency.actors import SYSTEM
from channelconnect.providers.messages import CallResult
from channelconnect.providers.messages.errors import refused_after_all
from channelconnect.sending.sources import Sent
from channelconnect.sending.transactions import project_transaction
from channelconnect.services.access_checks import checked_lately, request_access_checks
from config.db import database_now
from workspaces.contacts.services.opt_outs import MarketingChoice, apply_marketing_choices
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import mark_channel_lost

SOON_SECONDS: Final = 1.0


def draw_consequences(results: Sequence[Sent]) -> Sequence[Sent]:
    """Mark channels lost and people opted out of marketing. Doing it again changes nothing.

    Returns the results as they are after that. A refusal of an access that was replaced since is tried with the new
    access. A result that doubted a good access is the fault of its message.
    """
    lost = {one.row.channel_id for one in results if one.outcome.result is CallResult.RECONNECT}
    doubted = {one.row.channel_id for one in results if _casts_doubt(one)}
    unwilling = {one.row.contact_id for one in results if one.outcome.error is not None and one.outcome.error.opts_out}
    if not (lost or doubted or unwilling):
        return results
    with project_transaction():
        now = database_now()
        channels = _locked(lost | doubted)
        drawn = [_tried_anew(one) if _is_outdated(one, channels) else one for one in results]
        for one in drawn:
            if one.outcome.result is CallResult.RECONNECT and one.row.channel_id in channels:
                reason = f"send_refused_{_code(one)}"
                mark_channel_lost(channel=channels[one.row.channel_id], reason=reason, now=now, by=SYSTEM)
        drawn = _judge_doubts(drawn, now)
        apply_marketing_choices(choices=[MarketingChoice(pk, now) for pk in unwilling if pk is not None], now=now)
    return drawn


def _locked(channels: Collection[int]) -> dict[int, Channel]:
    """Lock channels, so that nobody connects them again until these results are recorded."""
    rows = Channel.objects.filter(pk__in=channels).select_related("workspace").order_by("pk")
    return {channel.pk: channel for channel in rows.select_for_update(of=("self",), no_key=True)}


def _is_outdated(one: Sent, channels: Mapping[int, Channel]) -> bool:
    """Whether an answer concerns an access that has been replaced since."""
    channel = channels.get(one.row.channel_id)
    if channel is None or one.connected_at in (None, channel.connected_at):
        return False
    is_about_access = one.outcome.result is CallResult.RECONNECT or _casts_doubt(one)
    return is_about_access and channel.status == Channel.Status.ACTIVE


def _tried_anew(one: Sent) -> Sent:
    return one._replace(outcome=one.outcome._replace(result=CallResult.RETRY, error=None), wait_seconds=SOON_SECONDS)


def _judge_doubts(results: Sequence[Sent], now: datetime) -> list[Sent]:
    """Request checks of doubted accesses, unless the provider confirmed them recently."""
    doubted = {one.row.channel_id for one in results if _casts_doubt(one)}
    if not doubted:
        return list(results)
    good = checked_lately(doubted, now=now)
    request_access_checks(doubted - good, now=now)
    return [_refused(one) if _casts_doubt(one) and one.row.channel_id in good else one for one in results]


def _casts_doubt(one: Sent) -> bool:
    error = one.outcome.error
    return one.outcome.result is CallResult.RETRY and error is not None and error.doubts_access


def _refused(one: Sent) -> Sent:
    error = refused_after_all(one.outcome.error) if one.outcome.error else None
    return one._replace(outcome=one.outcome._replace(result=CallResult.REFUSED, error=error), wait_seconds=0.0)


def _code(one: Sent) -> str:
    return one.outcome.error.code if one.outcome.error else ""
