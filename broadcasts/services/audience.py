"""The SQL of a broadcast's audience: its contacts, their addresses, moments, values and reasons to skip."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final
from zoneinfo import available_timezones

from django.db.backends.utils import CursorWrapper
from django.db.models import Exists, OuterRef, Q, QuerySet

from agency.services import subscribed_events
from broadcasts import events
from broadcasts.content import FrozenMessage
from broadcasts.models import Broadcast, Recipient
from config.wall_clock import instant_of, known_zone
from workspaces.contacts.models import Contact
from workspaces.contacts.services.segments import filter_to_q
from workspaces.conversations.models import Conversation
from workspaces.conversations.models.conversations import PLATFORMS_WITH_WINDOW, WINDOW

# The contact's row is named `person`. The statement has only the parts that the broadcast needs.

# A zone's moment may have passed when the broadcast begins. It is sent at once if that was less than this ago.
LATEST_CATCH_UP: Final = timedelta(hours=1)
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
CONTACT_COLUMNS: Final = ("id", "phone", "timezone", "opted_out_at", "marketing_opted_out_at")
OF_VARIABLES: Final = ("name", "email", "country", "attributes")


@dataclass(slots=True)
class Statement:
    """SQL under construction, with its named parameters."""

    joins: list[str] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    reasons: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class AudienceSql:
    """Expressions for the columns of the audience's statement. `reason` is null for recipients who are sent to.

    `missing` has a condition for each variable: the contact has no value, whether there is a fallback or not.
    """

    address: str
    kind: str
    due_at: str
    timezone: str
    values: str
    missing: Sequence[str]
    reason: str
    joins: str
    columns: Sequence[str]
    parameters: Mapping[str, Any]


def audience_sql(broadcast: Broadcast, message: FrozenMessage, started_at: datetime) -> AudienceSql:
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
    values, missing = _values(statement, message)
    reasons = " ".join(f"WHEN {condition} THEN '{reason}'" for reason, condition in statement.reasons)
    return AudienceSql(
        address=address,
        kind=kind,
        due_at=due_at,
        timezone=timezone,
        values=values,
        missing=missing,
        reason=f"CASE {reasons} END",
        joins="\n".join(statement.joins),
        columns=(*CONTACT_COLUMNS, *(OF_VARIABLES if message.variables else ())),
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
        "too_early": started_at - LATEST_CATCH_UP,
    }
    return f"GREATEST({LOCAL_MOMENT}, %(started)s)", "COALESCE(zone.name, %(own_zone)s)"


@lru_cache(maxsize=32)
def moments_of(scheduled_local_at: str, own_zone: str) -> dict[str, datetime]:
    """Return the moment of a wall clock in every known time zone."""
    wall = datetime.strptime(scheduled_local_at, "%Y-%m-%d %H:%M:%S")  # noqa: DTZ007  # a different moment in each zone
    return {zone: instant_of(wall, zone) for zone in sorted({*available_timezones(), known_zone(own_zone, None)})}


def _values(statement: Statement, message: FrozenMessage) -> tuple[str, list[str]]:
    """Return the SQL of the variables' values, and for each variable the condition that a contact has no value."""
    if not message.variables:
        return "NULL::jsonb", []
    own = [_value(statement, number, name, message) for number, name in enumerate(message.variables)]
    missing = [f"{value} IS NULL" for value in own]
    written, required = [], []
    for number, name in enumerate(message.variables):
        fallback = message.fallbacks.get(name)
        if fallback:
            statement.parameters[f"fallback_{number}"] = fallback
            written.append(f"COALESCE({own[number]}, %(fallback_{number})s::text)")
        else:
            written.append(own[number])
            required.append(missing[number])
    if required:
        statement.reasons.append(("variable_missing", " OR ".join(required)))
    return f"jsonb_build_array({', '.join(written)})", missing


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


Engagement = Broadcast.Engagement
Status = Recipient.Status
REACHED: Final = (Status.SENT, Status.DELIVERED, Status.READ)
ENGAGED: Final[Mapping[str, Q]] = {
    Engagement.SENT: Q(status__in=REACHED),
    Engagement.DELIVERED: Q(status__in=(Status.DELIVERED, Status.READ)),
    Engagement.READ: Q(status=Status.READ),
    Engagement.NOT_READ: Q(status__in=(Status.SENT, Status.DELIVERED)),
    Engagement.CLICKED: Q(clicked_at__isnull=False),
    Engagement.NOT_CLICKED: Q(status__in=REACHED, clicked_at=None),
    Engagement.FAILED: Q(status=Status.FAILED),
}


def audience_filter(broadcast: Broadcast) -> dict[str, object] | None:
    """Return the filter that contacts must meet; empty for all contacts. None if the segment was removed."""
    if broadcast.type == Broadcast.Type.RETARGET or broadcast.chosen_contacts is not None:
        return {}
    if (broadcast.audience or {}).get("segment") == "all":
        return {}
    return broadcast.segment.filter if broadcast.segment is not None else None


def last_contact_of(broadcast: Broadcast) -> int:
    """Return the workspace's newest contact. Contacts that are added later are not in the audience."""
    own = Contact.objects.of(broadcast.workspace).order_by("-workspace_id", "-id")
    return own.values_list("pk", flat=True).first() or 0


def contacts_between(broadcast: Broadcast, filter: Mapping[str, Any], *, after: int, up_to: int) -> "QuerySet[Contact]":
    """Return the broadcast's contacts with ids above `after`, up to `up_to`."""
    people = Contact.objects.filter(workspace_id=broadcast.workspace_id, pk__gt=after, pk__lte=up_to)
    if broadcast.type == Broadcast.Type.RETARGET:
        return people.filter(Exists(_engaged(broadcast, after, up_to).filter(contact_id=OuterRef("pk"))))
    if broadcast.chosen_contacts is not None:
        return people.filter(pk__in=[pk for pk in broadcast.chosen_contacts if after < pk <= up_to])
    return people.filter(filter_to_q(filter))


def end_of_chunk(broadcast: Broadcast, *, after: int, size: int) -> int:
    """Return the id up to which a chunk goes: `size` contacts further, or the last contact.

    It counts the contacts that the walk passes, not those that a segment finds: the walk is what takes the time.
    """
    last = broadcast.last_contact or 0
    walked: QuerySet[Recipient, int] | QuerySet[Contact, int]
    if broadcast.chosen_contacts is not None:
        ahead = sorted(pk for pk in broadcast.chosen_contacts if after < pk <= last)
        return ahead[size - 1] if len(ahead) > size else last
    if broadcast.type == Broadcast.Type.RETARGET:
        source = _recipients_of_source(broadcast, after, last)
        walked = source.order_by("broadcast_id", "contact_id").values_list("contact_id", flat=True)
    else:
        own = Contact.objects.filter(workspace_id=broadcast.workspace_id, pk__gt=after, pk__lte=last)
        walked = own.order_by("workspace_id", "pk").values_list("pk", flat=True)
    ends = list(walked[size - 1 : size])
    return ends[0] if ends else last


def _engaged(broadcast: Broadcast, after: int, up_to: int) -> "QuerySet[Recipient]":
    return _recipients_of_source(broadcast, after, up_to).filter(ENGAGED[str(broadcast.retarget_engagement)])


def _recipients_of_source(broadcast: Broadcast, after: int, up_to: int) -> "QuerySet[Recipient]":
    source = broadcast.source_broadcast_id or 0
    return Recipient.objects.filter(broadcast_id=source, contact_id__gt=after, contact_id__lte=up_to)


def wants_skips(broadcast: Broadcast) -> bool:
    """Whether each skipped recipient of a broadcast needs an event."""
    wanted = subscribed_events([broadcast.workspace_id]).get(broadcast.workspace_id, set())
    return events.RECIPIENT_SKIPPED in wanted


# One row for each contact, with a reason if the contact is skipped.
AUDIENCE: Final = """
SELECT person.id, {address} AS address, {kind} AS kind, {due_at} AS due_at, {timezone} AS timezone,
    {reason} AS reason, {values} AS "values", person.phone{missing}
FROM ({people}) AS person
{joins}
"""
RECIPIENT_COLUMNS: Final = (
    "broadcast_id, contact_id, due_at, stage, tries, status, address_kind, address, timezone, skip_reason,"
    ' "values", created_at'
)
COUNTED: Final = """
SELECT due_at, timezone, skip_reason, count(*)::int, array_agg(contact_id) FILTER (WHERE skip_reason IS NOT NULL)
FROM inserted GROUP BY due_at, timezone, skip_reason
"""
# A conflict is either an address that the broadcast already has, or a contact with a row already, because another
# contact was merged into it. The existing row stays.
INSERT: Final = """
WITH inserted AS (
    INSERT INTO broadcasts_recipient ({columns})
    SELECT %(broadcast)s, id, due_at, CASE WHEN reason IS NULL THEN 0 ELSE 4 END, 0,
        CASE WHEN reason IS NULL THEN 'pending' ELSE 'skipped' END,
        CASE WHEN reason IS NULL THEN kind END, CASE WHEN reason IS NULL THEN address END,
        timezone, reason, CASE WHEN reason IS NULL THEN "values" END, %(started)s
    FROM ({asked}) AS asked
    {on_conflict}
    RETURNING contact_id, due_at, timezone, skip_reason
)
{counted}
"""
# Contacts without a row by now have the address of another recipient.
INSERT_DUPLICATES: Final = """
WITH inserted AS (
    INSERT INTO broadcasts_recipient ({columns})
    SELECT %(broadcast)s, id, due_at, 4, 0, 'skipped', NULL, NULL, timezone, 'duplicate_address', NULL, %(started)s
    FROM ({asked}) AS asked
    WHERE NOT EXISTS (
        SELECT FROM broadcasts_recipient there WHERE there.broadcast_id = %(broadcast)s AND there.contact_id = asked.id)
    RETURNING contact_id, due_at, timezone, skip_reason
)
{counted}
"""


def audience_statement(person: AudienceSql) -> str:
    """Return the audience's statement. The query of the contacts replaces its `{people}`."""
    return AUDIENCE.format(
        address=person.address,
        kind=person.kind,
        due_at=person.due_at,
        timezone=person.timezone,
        reason=person.reason,
        values=person.values,
        missing="".join(f", {condition} AS missing_{number}" for number, condition in enumerate(person.missing)),
        joins=person.joins,
        people="{people}",
    )


def with_people(statement: str, person: AudienceSql, people: "QuerySet[Contact]", cursor: CursorWrapper) -> str:
    """Insert the query of the contacts into a statement, with its values as literals."""
    # Also if no contact can match because all chosen contacts are gone.
    compiler = people.values(*person.columns).query.get_compiler(people.db, elide_empty=False)
    sql, parameters = compiler.as_sql()
    written = cursor.mogrify(sql, parameters) if parameters else sql
    return statement.replace("{people}", str(written).replace("%", "%%"))


def insert(person: AudienceSql, *, is_careful: bool) -> str:
    """Return the statement that inserts recipients; with care if the broadcast may have an address already."""
    # Of two contacts with one address the older gets the message, whatever the plan.
    on_conflict = "ORDER BY asked.id ON CONFLICT DO NOTHING" if is_careful else ""
    return INSERT.format(
        columns=RECIPIENT_COLUMNS, asked=audience_statement(person), on_conflict=on_conflict, counted=COUNTED
    )


def insert_duplicates(person: AudienceSql) -> str:
    return INSERT_DUPLICATES.format(columns=RECIPIENT_COLUMNS, asked=audience_statement(person), counted=COUNTED)


def parameters_of(person: AudienceSql, broadcast: int) -> Mapping[str, Any]:
    return {**person.parameters, "broadcast": broadcast}
