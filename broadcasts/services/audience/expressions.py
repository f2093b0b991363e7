"""The SQL of a broadcast's audience: each contact's address, moment, values of variables, and reason to skip.

The contact's row is named `person`. The statement has only the parts that the broadcast needs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final
from zoneinfo import available_timezones

from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast
from broadcasts.services.progress.schedule import instant_of, known_zone
from workspaces.conversations.models import Conversation
from workspaces.conversations.models.conversations import PLATFORMS_WITH_WINDOW, WINDOW

# A zone's moment may have passed when the broadcast begins. It is sent at once if that was less than this ago.
STILL_SENT: Final = timedelta(hours=1)
CONTACT_VALUES: Final[Mapping[str, str]] = {
    "contact.name": "person.name",
    "contact.first_name": "split_part(btrim(person.name), ' ', 1)",
    "contact.last_name": "substr(btrim(person.name), length(split_part(btrim(person.name), ' ', 1)) + 2)",
    "contact.email": "person.email",
    "contact.phone": "person.phone",
    "contact.country": "person.country",
}
LOCAL_MOMENT: Final = "COALESCE(zone.moment, %(own_moment)s)"
# Columns for the reasons, the address and the variables. The second tuple is read only if there are variables.
COLUMNS: Final = ("id", "phone", "timezone", "opted_out_at", "marketing_opted_out_at")
OF_VARIABLES: Final = ("name", "email", "country", "attributes")


@dataclass(slots=True)
class Statement:
    """SQL under construction, with its named parameters."""

    joins: list[str] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    reasons: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Person:
    """Expressions for the columns of the audience's statement. `reason` is null for recipients who are sent to."""

    address: str
    kind: str
    due_at: str
    timezone: str
    values: str
    reason: str
    joins: str
    columns: Sequence[str]
    parameters: Mapping[str, Any]


def person_of(broadcast: Broadcast, message: FrozenMessage, started_at: datetime) -> Person:
    """Write the expressions for a broadcast that begins at `started_at`."""
    statement = Statement(parameters={"started": started_at, "channel": broadcast.channel_id})
    statement.reasons.append(
        ("opted_out", "person.opted_out_at IS NOT NULL OR person.marketing_opted_out_at IS NOT NULL")
    )
    address, kind = _address(statement, broadcast.channel.platform)
    due_at, timezone = _moment(statement, broadcast, started_at)
    if message.template is None and broadcast.channel.platform in PLATFORMS_WITH_WINDOW:
        _need_window(statement, started_at, due_at)
    if broadcast.timezone_mode != Broadcast.TimezoneMode.FIXED:
        statement.reasons.append(("local_time_passed", f"{LOCAL_MOMENT} <= %(too_early)s"))
    values = _values(statement, message)
    reasons = " ".join(f"WHEN {condition} THEN '{reason}'" for reason, condition in statement.reasons)
    return Person(
        address=address,
        kind=kind,
        due_at=due_at,
        timezone=timezone,
        values=values,
        reason=f"CASE {reasons} END",
        joins="\n".join(statement.joins),
        columns=(*COLUMNS, *(OF_VARIABLES if message.variables else ())),
        parameters=statement.parameters,
    )


def _address(statement: Statement, platform: str) -> tuple[str, str]:
    """Return the SQL of a contact's address and its kind.

    WhatsApp takes a phone number, the network's own form of a number, or a business-scoped id. The other networks take
    only their own ids. If a contact has several identities on a channel, the newest counts.
    """
    is_whatsapp = platform == "whatsapp"
    statement.joins.append(
        f"""LEFT JOIN LATERAL (
            SELECT external_id, user_id FROM contacts_contactidentity known
            WHERE {"person.phone IS NULL AND " if is_whatsapp else ""}known.contact_id = person.id
                AND known.channel_id = %(channel)s ORDER BY known.id DESC LIMIT 1
        ) AS identity ON true"""  # noqa: S608  # our own words
    )
    if is_whatsapp:
        address = "COALESCE(person.phone, '+' || identity.external_id, identity.user_id)"
        number = "COALESCE(person.phone, identity.external_id)"
        kind = f"CASE WHEN {number} IS NOT NULL THEN 'phone' ELSE 'user' END"
    else:
        address, kind = "identity.external_id", "'id'"
    statement.reasons.append(("no_address", f"{address} IS NULL"))
    return address, kind


def _need_window(statement: Statement, started_at: datetime, due_at: str) -> None:
    """Skip people who are due at once and have a closed window. The sender checks all others, who may still write."""
    table = Conversation._meta.db_table
    statement.joins.append(
        f"LEFT JOIN {table} conversation"
        " ON conversation.channel_id = %(channel)s AND conversation.contact_id = person.id"
    )
    statement.parameters["window"] = started_at - WINDOW
    is_closed = "(conversation.last_inbound_at IS NULL OR conversation.last_inbound_at <= %(window)s)"
    statement.reasons.append(("outside_window", f"{due_at} <= %(started)s AND {is_closed}"))


def _moment(statement: Statement, broadcast: Broadcast, started_at: datetime) -> tuple[str, str]:
    if broadcast.timezone_mode == Broadcast.TimezoneMode.FIXED:
        return "%(started)s::timestamptz", "NULL"
    zones = moments_of(str(broadcast.scheduled_local_at), broadcast.workspace.timezone)
    statement.joins.append(
        "LEFT JOIN unnest(%(zones)s::text[], %(moments)s::timestamptz[]) AS zone (name, moment)"
        " ON zone.name = person.timezone"
    )
    own = known_zone(broadcast.workspace.timezone, None)
    statement.parameters |= {
        "zones": list(zones),
        "moments": list(zones.values()),
        "own_zone": own,
        "own_moment": zones[own],
        "too_early": started_at - STILL_SENT,
    }
    return f"GREATEST({LOCAL_MOMENT}, %(started)s)", "COALESCE(zone.name, %(own_zone)s)"


@lru_cache(maxsize=32)
def moments_of(scheduled_local_at: str, own_zone: str) -> dict[str, datetime]:
    """Return the moment of a wall clock in every known time zone."""
    wall = datetime.strptime(scheduled_local_at, "%Y-%m-%d %H:%M:%S")  # noqa: DTZ007  # a different moment in each zone
    return {zone: instant_of(wall, zone) for zone in sorted({*available_timezones(), known_zone(own_zone, None)})}


def _values(statement: Statement, message: FrozenMessage) -> str:
    if not message.variables:
        return "NULL::jsonb"
    written = [_value(statement, number, name, message) for number, name in enumerate(message.variables)]
    statement.reasons.append(("variable_missing", " OR ".join(f"{value} IS NULL" for value in written)))
    return f"jsonb_build_array({', '.join(written)})"


def _value(statement: Statement, number: int, name: str, message: FrozenMessage) -> str:
    root, _, key = name.partition(".")
    value = CONTACT_VALUES.get(name, "NULL::text")
    if root == "fields":
        statement.parameters[f"field_{number}"] = key
        value = f"person.attributes ->> %(field_{number})s"
    if message.template is not None:
        # Templates allow no line breaks, no tabs, and at most four blanks in a row.
        value = rf"regexp_replace({value}, '\s+', ' ', 'g')"
    return f"NULLIF(btrim({value}), '')"
