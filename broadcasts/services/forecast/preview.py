"""The preview of a broadcast: what its author should know before scheduling or approving it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast
from broadcasts.services.costs import billing_currency, estimate, markets_of
from broadcasts.services.editing.fields.messages import WrittenMessage, write_message
from broadcasts.services.editing.fields.variables import with_settings
from broadcasts.services.forecast.counting import Counted, Limit, ends_of, held_of
from broadcasts.services.forecast.runs import Counting, count_audience, limit_of
from broadcasts.services.forecast.waves import Due, ForecastWave, Plan, within_limit, without_limit
from broadcasts.services.progress.freezing import freeze_message
from config.db import database_now
from workspaces.subaccounts.models import Workspace


@dataclass(frozen=True, slots=True)
class Zone:
    """The number of recipients in a time zone, and their moment."""

    timezone: str
    count: int
    sends_at: datetime


@dataclass(frozen=True, slots=True)
class Cost:
    """The highest cost: each message is delivered, and none is free."""

    currency: str
    at_most: Decimal


@dataclass(frozen=True, slots=True)
class Preview:
    """A broadcast's preview. `recipients_count` is the whole audience; `zones` and `waves` leave out skipped contacts.

    `zones` is empty if all recipients have the same moment. `held_count` is how many wait for room in the allowance.
    `counting` says how far a very large audience is counted, and all other numbers are then of that part. None means
    that the whole audience is counted.
    """

    recipients_count: int
    skipped: Mapping[str, int]
    zones: list[Zone]
    waves: list[ForecastWave]
    held_count: int
    last_wave_at: datetime | None
    cost: Cost | None
    sample: list[str]
    counting: Counting | None


def preview(workspace: Workspace, draft: Broadcast) -> Preview:
    """Return a broadcast's preview. The broadcast need not be saved, and nothing is written.

    Raises `BroadcastRefused` for a message that cannot be sent, and `ForecastUnavailable`.
    """
    now = database_now()
    written, message = write_message(draft.message, draft.channel), freeze_message(draft)
    found = count_audience(draft, message, now)
    counted = found.counted
    plan = _plan(draft, counted, limit_of(draft, message), now)
    return Preview(
        recipients_count=counted.total,
        skipped=dict(sorted(counted.skipped.items())),
        zones=_zones(counted),
        waves=plan.waves(),
        held_count=plan.held,
        last_wave_at=plan.last,
        cost=_cost(written, counted, found.starts_at),
        sample=[_text_of(written, message, workspace, values) for values in counted.sample],
        counting=found.counting,
    )


def _plan(draft: Broadcast, counted: Counted, limit: Limit | None, now: datetime) -> Plan:
    due = list(counted.ready.values())
    if limit is None:
        return without_limit(_by_moment(due))
    return within_limit(
        _by_moment(due), limit=limit.people, ends=ends_of(limit, now), ahead=held_of(draft), window=limit.window
    )


def _by_moment(due: list[Due]) -> list[Due]:
    found: dict[datetime, Due] = {}
    for one in due:
        before = found.get(one.at, Due(one.at, 0, 0))
        found[one.at] = Due(one.at, before.free + one.free, before.counted + one.counted)
    return list(found.values())


def _zones(counted: Counted) -> list[Zone]:
    sizes = {key: due.free + due.counted for key, due in counted.ready.items()}
    zones = [Zone(timezone, size, at) for (at, timezone), size in sizes.items() if timezone and size]
    return sorted(zones, key=lambda zone: (zone.sends_at, zone.timezone))


def _cost(written: WrittenMessage, counted: Counted, starts_at: datetime) -> Cost | None:
    if written.template is None:
        return None
    currency = billing_currency()
    at_most = estimate(markets_of(counted.prefixes), written.category, currency, starts_at.date())
    return None if at_most is None else Cost(currency, at_most)


def _text_of(written: WrittenMessage, message: FrozenMessage, workspace: Workspace, values: list[str] | None) -> str:
    """Return the text that a recipient would read, with the original addresses in place of tracked links."""
    shown = FrozenMessage(text=with_settings(written.shown, workspace), variables=message.variables)
    return shown.for_recipient(values)[0]
