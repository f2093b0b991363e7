"""What follows from an error for more than its message: a channel whose access has ended, a person who opted out."""

from collections.abc import Iterable, Sequence

from django.db.models.functions import Now

from agency.actors import SYSTEM
from channelconnect.providers.messages import Verdict
from channelconnect.sending.sources import Sent
from channelconnect.sending.transactions import project_transaction
from config.db import database_now
from workspaces.contacts.models import Contact
from workspaces.subaccounts.models import Channel
from workspaces.subaccounts.services import mark_channel_lost


def draw_consequences(results: Sequence[Sent]) -> None:
    """Mark channels lost and people opted out of marketing; doing it again changes nothing."""
    lost = {one.row.channel_id: _code(one) for one in results if one.outcome.verdict is Verdict.RECONNECT}
    unwilling = {one.row.contact_id for one in results if one.outcome.error is not None and one.outcome.error.opts_out}
    if not lost and not unwilling:
        return
    with project_transaction():
        for channel in Channel.objects.filter(pk__in=lost).select_related("workspace").order_by("pk"):
            reason = f"send_refused_{lost[channel.pk]}"
            mark_channel_lost(channel=channel, reason=reason, now=database_now(), by=SYSTEM)
        _opt_out(pk for pk in unwilling if pk is not None)


def _opt_out(contacts: Iterable[int]) -> None:
    willing = Contact.objects.filter(pk__in=list(contacts), marketing_opted_out_at=None)
    willing.update(marketing_opted_out_at=Now())


def _code(one: Sent) -> str:
    return one.outcome.error.code if one.outcome.error else ""
