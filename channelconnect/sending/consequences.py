"""What follows from an error for more than its message: a channel whose access has ended, a person who opted out."""

from collections.abc import Sequence

from agency.actors import SYSTEM
from channelconnect.providers.messages import CallResult
from channelconnect.sending.sources import Sent
from channelconnect.sending.transactions import project_transaction
from config.db import database_now
from workspaces.contacts.services.people.network_changes import MarketingWish, follow_marketing_wishes
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import mark_channel_lost


def draw_consequences(results: Sequence[Sent]) -> None:
    """Mark channels lost and people opted out of marketing; doing it again changes nothing."""
    lost = {one.row.channel_id: _code(one) for one in results if one.outcome.result is CallResult.RECONNECT}
    unwilling = {one.row.contact_id for one in results if one.outcome.error is not None and one.outcome.error.opts_out}
    if not lost and not unwilling:
        return
    with project_transaction():
        now = database_now()
        for channel in Channel.objects.filter(pk__in=lost).select_related("workspace").order_by("pk"):
            reason = f"send_refused_{lost[channel.pk]}"
            mark_channel_lost(channel=channel, reason=reason, now=now, by=SYSTEM)
        follow_marketing_wishes(wishes=[MarketingWish(pk, now) for pk in unwilling if pk is not None], now=now)


def _code(one: Sent) -> str:
    return one.outcome.error.code if one.outcome.error else ""
