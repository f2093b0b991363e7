"""Makes facts for automations of messages, comments and referrals, and stops runs of contacts who opt out."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from workspaces.automations.models import AutomationRun
from workspaces.automations.services.run_control import StopReason, stop_runs
from workspaces.automations.services.trigger_events import NewTriggerEvent, record_trigger_events
from workspaces.conversations.facts import storable
from workspaces.conversations.services.registries import (
    IncomingComment,
    IncomingMessage,
    IncomingReferral,
    ReceivedCommentHandler,
    ReceivedMessageHandler,
    ReferralHandler,
)

MESSAGE: Final = "message"
COMMENT: Final = "comment"
STORY_MENTION: Final = "story_mention"
AD_CLICK: Final = "ad_click"
LONGEST_VALUE: Final = 200
LONGEST_COMMENT: Final = 500


def record_messages(messages: Sequence[IncomingMessage], now: datetime) -> None:
    """Record new messages as facts. A message that opts its contact out stops the contact's runs."""
    record_trigger_events([_message(one) for one in messages])
    opted_out = {one.contact_id for one in messages if one.opts_out}
    active = (
        AutomationRun.objects.active().filter(contact_id__in=opted_out) if opted_out else AutomationRun.objects.none()
    )
    leaving = dict(active.values_list("contact_id", "workspace_id"))
    stop_runs(contacts=leaving, reason=StopReason.OPTED_OUT, now=now)


def _message(message: IncomingMessage) -> NewTriggerEvent:
    """Return a message as a fact, without its text: the engine reads the message's row."""
    story = message.details.get("story")
    told = {
        "first": message.is_first,
        "opts_out": message.opts_out,
        "story": story.get("kind") if isinstance(story, dict) else None,
        "referral" if is_ad(message.details) else "link": referral_of(message.details),
    }
    return NewTriggerEvent(
        workspace_id=message.channel.workspace_id,
        contact_id=message.contact_id,
        kind=STORY_MENTION if told["story"] == "mention" else MESSAGE,
        source_key=f"message:{message.id}",
        channel_id=message.channel.id,
        conversation_id=message.conversation_id,
        message_id=message.id,
        subject=ad_of(message.details),
        data={name: value for name, value in told.items() if value},
    )


def record_comments(comments: Sequence[IncomingComment], now: datetime) -> None:
    """Record new comments as facts whose subject is the post."""
    record_trigger_events([_comment(one) for one in comments])


def _comment(comment: IncomingComment) -> NewTriggerEvent:
    told = {
        "comment": comment.comment_id,
        "parent": comment.parent_id,
        "text": storable(comment.text[:LONGEST_COMMENT]),
        "at": comment.at.isoformat(),
        "ad": _short(comment.details.get("ad")),
        "media": _short(comment.details.get("media")),
        "permalink": comment.details.get("permalink"),
    }
    return NewTriggerEvent(
        workspace_id=comment.channel.workspace_id,
        contact_id=comment.contact_id,
        kind=COMMENT,
        source_key=f"comment:{comment.id}",
        channel_id=comment.channel.id,
        conversation_id=comment.conversation_id,
        subject=comment.post_id[:LONGEST_VALUE],
        data={name: value for name, value in told.items() if value},
    )


def record_referrals(referrals: Sequence[IncomingReferral], now: datetime) -> None:
    """Record that contacts opened their chats again from an advertisement. Other links start nothing."""
    record_trigger_events(list(_ad_clicks(referrals)))


def _ad_clicks(referrals: Sequence[IncomingReferral]) -> Iterator[NewTriggerEvent]:
    for one in referrals:
        if is_ad(one.details):
            yield NewTriggerEvent(
                workspace_id=one.channel.workspace_id,
                contact_id=one.contact_id,
                kind=AD_CLICK,
                source_key=f"ad:{one.conversation_id}:{one.at.timestamp():.3f}",
                channel_id=one.channel.id,
                conversation_id=one.conversation_id,
                subject=ad_of(one.details),
                data={"referral": referral_of(one.details)},
            )


def is_ad(details: Mapping[str, object]) -> bool:
    """Return whether a person came from an advertisement. Other referrals are links, such as m.me with a `ref`."""
    referral = _referral(details)
    return referral.get("source_type") == "ad" or referral.get("source") == "ADS" or bool(ad_of(details))


def ad_of(details: Mapping[str, object]) -> str:
    """Return the network's id of the advertisement from which a person came, or an empty text.

    WhatsApp names it `source_id`, and says by `source_type` whether it is an advertisement or a post. Messenger and
    Instagram name it `ad_id`.
    """
    referral = _referral(details)
    return _short(referral.get("source_id" if referral.get("source_type") == "ad" else "ad_id"))


def referral_of(details: Mapping[str, object]) -> dict[str, str]:
    """Return the few values of a referral that flows use: the advertisement, the link's `ref`, and a headline."""
    told = {name: _short(_referral(details).get(name)) for name in ("ref", "headline")}
    return {name: value for name, value in {"ad": ad_of(details), **told}.items() if value}


def _referral(details: Mapping[str, object]) -> Mapping[str, object]:
    found = details.get("referral")
    return found if isinstance(found, dict) else {}


def _short(value: object) -> str:
    """Return a text or a number as a text of bounded length. Other values become empty."""
    is_named = isinstance(value, str | int) and not isinstance(value, bool)
    return storable(str(value)[:LONGEST_VALUE]) if is_named else ""


RECEIVED_MESSAGE_HANDLER = ReceivedMessageHandler("automations.messages", record_messages)
RECEIVED_COMMENT_HANDLER = ReceivedCommentHandler("automations.comments", record_comments)
REFERRAL_HANDLER = ReferralHandler("automations.referrals", record_referrals)
