"""Records marketing opt-outs that the network reports by failing a conversation's message later."""

from collections.abc import Sequence
from datetime import datetime

from channelconnect.providers.messages.errors import ERRORS
from workspaces.conversations.facts import MarketingPreferenceChanged, StatusChanged
from workspaces.conversations.services import inbound


def keep_unwilling(facts: Sequence[StatusChanged], *, now: datetime) -> None:
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
