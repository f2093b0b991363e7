"""Reads changes of WhatsApp's business accounts, their numbers and their templates."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final

from channelconnect.providers.graph.parsing import Row, ident, number, recipients_per_day, row, text
from channelconnect.providers.notices.events import (
    AccountLost,
    LimitChanged,
    ProviderEvent,
    QualityChanged,
    TemplateChanged,
    Unknown,
)
from channelconnect.providers.notices.values import LONGEST_ID

PLATFORM: Final = "whatsapp"
LOSSES: Final = {"PARTNER_REMOVED", "PARTNER_APP_UNINSTALLED", "ACCOUNT_DELETED", "DISABLED_UPDATE"}
STILL_THERE: Final = {"REINSTATE", "SCHEDULE_FOR_DISABLE"}
LIMITS: Final = ("max_daily_conversations_per_business", "max_daily_conversation_per_phone")
# A flagged number has low quality. An unflagged number has medium or high quality; the notice does not say which.
QUALITIES: Final = {"FLAGGED": "RED", "UNFLAGGED": "YELLOW"}
# The field of a template's notice with the new state, by kind of notice.
TEMPLATE_VALUES: Final = {
    "status": "event",
    "quality": "new_quality_score",
    "category": "new_category",
    "components": "",
}


def read_account_change(field: str, value: Row, entry_id: object, at: datetime) -> Iterator[ProviderEvent]:
    """Yield the events of one change of a business account."""
    container_id = ident(entry_id)
    read = READERS.get(field)
    if read is None:
        yield Unknown(platform=PLATFORM, container_id=container_id, kind=field, at=at)
        return
    for event in read(value, container_id):
        yield replace(event, at=at)


def _account_update(value: Row, id: str) -> Iterator[ProviderEvent]:
    """Read an account's update. Some come under the portfolio's id and name the business account inside."""
    event = text(value.get("event"))
    container_id = ident(row(value.get("waba_info")).get("waba_id")) or id
    ban = text(row(value.get("ban_info")).get("waba_ban_state"))
    if event in LOSSES and ban not in STILL_THERE:
        yield AccountLost(platform=PLATFORM, container_id=container_id, reason=event)
    else:
        yield Unknown(platform=PLATFORM, container_id=container_id, kind=f"account_update.{event}")


def _quality(value: Row, id: str) -> Iterator[ProviderEvent]:
    tier = value.get("current_limit") or value.get("max_daily_conversations_per_business")
    event = text(value.get("event"))
    yield QualityChanged(
        platform=PLATFORM,
        container_id=id,
        shown=text(value.get("display_phone_number")),
        event=event,
        quality=QUALITIES.get(event, ""),
        throughput="HIGH" if event == "THROUGHPUT_UPGRADE" else "",
        messaging_limit=recipients_per_day(tier) if tier else None,
        has_limit=bool(tier),
    )


def _capability(value: Row, id: str) -> Iterator[ProviderEvent]:
    """Read a portfolio's limit. It comes as the name of a tier or as a number; -1 means no limit."""
    limit = next((value[name] for name in LIMITS if name in value), None)
    if isinstance(limit, str) and limit.startswith("TIER_"):
        yield LimitChanged(platform=PLATFORM, container_id=id, messaging_limit=recipients_per_day(limit))
        return
    people = number(limit)
    if people is None:
        yield Unknown(platform=PLATFORM, container_id=id, kind="business_capability_update")
    else:
        yield LimitChanged(platform=PLATFORM, container_id=id, messaging_limit=None if people < 0 else people)


def _template(what: str) -> Callable[[Row, str], Iterator[ProviderEvent]]:
    def read(value: Row, id: str) -> Iterator[ProviderEvent]:
        yield TemplateChanged(
            platform=PLATFORM,
            container_id=id,
            template_id=ident(value.get("message_template_id")),
            name=text(value.get("message_template_name"), LONGEST_ID),
            language=text(value.get("message_template_language")),
            what=what,
            value=text(value.get(TEMPLATE_VALUES[what])),
            reason=text(value.get("reason")) or text(row(value.get("other_info")).get("title")),
        )

    return read


READERS: Final[dict[str, Callable[[Row, str], Iterator[ProviderEvent]]]] = {
    "account_update": _account_update,
    "phone_number_quality_update": _quality,
    "business_capability_update": _capability,
    "message_template_status_update": _template("status"),
    "message_template_quality_update": _template("quality"),
    "template_category_update": _template("category"),
    "message_template_components_update": _template("components"),
}
