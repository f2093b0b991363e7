"""The activity log: one row for each change, in the same transaction, with the fields whose values it keeps.

The list of fields is explicit: of a field that is not on it, or that is `hidden`, an entry says only that it was
changed. Secrets, passwords, the texts of messages and names of people are hidden. An erasure finds a person by their
present name, not by an earlier name.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any, Final, Self
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from agency import limits as limits_of_plans
from agency.actors import Actor
from agency.models import ActivityEntry, MailSettings, Member
from config.hooks import Registry

Changes = Mapping[str, tuple[object, object]]
Recorded = dict[str, list[object] | None]

MOST_FIELDS: Final = 24
LONGEST_VALUE: Final = 300


class ValueFormat(Enum):
    """How the values of a field are shown."""

    TEXT = "text"
    NUMBER = "number"
    LIMIT = "limit"
    SWITCH = "switch"
    MOMENT = "moment"


@dataclass(frozen=True, slots=True)
class RecordedField:
    """A field by its name; `choices` label its values.

    `agency_only` keeps it from the workspace's own people. A value is cut off at `cut_at`, as the query of an address
    may hold a secret.
    """

    name: str
    label: str | Promise
    shown: ValueFormat = ValueFormat.TEXT
    choices: Iterable[tuple[str, str | Promise]] = ()
    hidden: bool = False
    agency_only: bool = False
    cut_at: str = ""


@dataclass(frozen=True, slots=True)
class RecordedAction:
    """The fields that a change under this action may name."""

    name: str
    fields: tuple[RecordedField, ...]

    @classmethod
    def from_fields(cls, fields: Mapping[str, tuple[RecordedField, ...]]) -> Iterator[Self]:
        """Yield an action for each name with its fields."""
        return (cls(action, declared) for action, declared in fields.items())

    def field(self, name: str) -> RecordedField | None:
        return next((field for field in self.fields if field.name == name), None)


recorded_actions = Registry[RecordedAction](
    "recorded fields of the activity log",
    called="`record_activity` reads which fields keep their values; the activity log reads how to show them",
    transaction="the caller's",
    failure="cannot happen: the items are data",
)


LIMIT_FIELDS: Final = tuple(
    RecordedField(f"limits.{name}", label, ValueFormat.LIMIT) for name, label in limits_of_plans.LABELS.items()
)


def limit_changes(before: Mapping[str, object], after: Mapping[str, object]) -> Changes:
    """Return the limits that differ, under the names of `LIMIT_FIELDS`."""
    pairs = {
        f"limits.{name}": (limits_of_plans.value(before, name), limits_of_plans.value(after, name))
        for name in limits_of_plans.NAMES
    }
    return {name: (was, is_now) for name, (was, is_now) in pairs.items() if was != is_now}


def changes_to(instance: object, values: Mapping[str, object]) -> dict[str, tuple[Any, Any]]:
    """Pair the present values of an object's fields with the new ones."""
    return {name: (getattr(instance, name), value) for name, value in values.items()}


def from_differences(differences: Mapping[str, Mapping[str, object]]) -> dict[str, tuple[object, object]]:
    """Convert changes from the form that events carry: `{field: {from, to}}`."""
    return {name: (one["from"], one["to"]) for name, one in differences.items()}


def recorded_changes(action: str, changes: Changes) -> Recorded:
    """Return what is stored: `{field: [before, after]}`, and `null` for a field whose values are not kept."""
    known = recorded_actions.get(action)
    written: Recorded = {}
    for name, (before, after) in list(changes.items())[:MOST_FIELDS]:
        field = known.field(name) if known else None
        if before != after:
            written[name] = _pair(field, before, after) if field and not field.hidden else None
    return written


def _pair(field: RecordedField, before: object, after: object) -> list[object] | None:
    """Return both values, or None if one of them is too long, as half of an address would survive an erasure."""
    try:
        pair = [_stored(before), _stored(after)]
    except TypeError:
        return None
    if field.cut_at:
        pair = [_cut(value, field.cut_at) for value in pair]
    is_shown = pair[0] != pair[1] and all(_length(value) <= LONGEST_VALUE for value in pair)
    return pair if is_shown else None


def _stored(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str | Promise):
        return str(value)
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple | set | frozenset):
        return [_stored(one) for one in value]
    raise TypeError(type(value))


def _cut(value: object, mark: str) -> object:
    return value.partition(mark)[0] if isinstance(value, str) else value


def _length(value: object) -> int:
    return sum(map(_length, value)) + 2 * len(value) if isinstance(value, list) else len(str(value))


__all__ = ["record_activity"]

# Reads the first entry of the index for each action, and skips the action's other entries, however many there are.
ACTIONS: Final = """
WITH RECURSIVE found AS (
    (
        SELECT action FROM agency_activityentry WHERE workspace_uuid = %(workspace)s
        ORDER BY action LIMIT 1
    )
    UNION ALL
    SELECT following.action FROM found CROSS JOIN LATERAL (
        SELECT action FROM agency_activityentry WHERE workspace_uuid = %(workspace)s AND action > found.action
        ORDER BY action LIMIT 1
    ) AS following
)
SELECT action FROM found
"""


def record_activity(
    *,
    by: Actor,
    action: str,
    agency_id: int | None,
    target: tuple[str, object, str],
    workspace_uuid: UUID | None = None,
    details: Mapping[str, object] | None = None,
    changes: Changes | None = None,
) -> None:
    """Add an entry; `target` is the kind, public id and name of what was changed. `details` holds no secret.

    `changes` has each field's values before and after. Only fields that are declared for the action keep their values.
    """
    kind, identity, name = target
    ActivityEntry.objects.create(
        agency_id=agency_id,
        workspace_uuid=workspace_uuid,
        actor_kind=by.kind,
        actor_id=by.id,
        actor_label=by.label,
        acting_for=by.acting_for,
        of_workspace=by.of_workspace,
        action=action,
        target_kind=kind,
        target_id=str(identity),
        target_name=name,
        address=by.address,
        request_id=by.request_id,
        details=details or {},
        changes=recorded_changes(action, changes or {}),
    )


def actions_recorded_in(workspace_uuid: UUID) -> list[str]:
    """Return each action that has been recorded in a workspace, once."""
    with connection.cursor() as cursor:
        cursor.execute(ACTIONS, {"workspace": workspace_uuid})
        return [action for (action,) in cursor.fetchall()]


ITEM = (RecordedField("name", _("Name")), RecordedField("description", _("Description")), *LIMIT_FIELDS)
LANGUAGE = RecordedField("language", _("Language"), choices=settings.LANGUAGES)

FIELDS: Final[dict[str, tuple[RecordedField, ...]]] = {
    "agency.changed": (
        RecordedField("name", _("Name")),
        RecordedField("max_sub_accounts", _("Sub-accounts"), ValueFormat.LIMIT),
    ),
    "agency.two_factor_required": (
        RecordedField("roles", _("Two-factor is required for"), choices=Member.Role.choices),
    ),
    "agency.language_changed": (LANGUAGE,),
    "brand.colour_changed": (RecordedField("accent", _("Colour")),),
    "plan.changed": ITEM,
    "addon.changed": ITEM,
    "plan.default_chosen": (RecordedField("default_plan", _("Default plan")),),
    "member.role_changed": (RecordedField("role", _("Role"), choices=Member.Role.choices),),
    "mail.sender_changed": (
        RecordedField("sender_name", _("Sender's name")),
        RecordedField("reply_to", _("Replies go to")),
    ),
    "mail.server_changed": (
        RecordedField("host", _("Server")),
        RecordedField("port", _("Port")),
        RecordedField("security", _("Encryption"), choices=MailSettings.Security.choices),
        RecordedField("from_address", _("Sender's address")),
        RecordedField("username", _("User name"), hidden=True),
        RecordedField("password", _("Password"), hidden=True),
    ),
    "sign_up.changed": (
        RecordedField("is_on", _("Customers can sign up"), ValueFormat.SWITCH),
        RecordedField("allows_further_workspaces", _("Customers can add workspaces"), ValueFormat.SWITCH),
        RecordedField("terms_url", _("Address of your terms"), cut_at="?"),
        RecordedField("privacy_url", _("Address of your privacy notice"), cut_at="?"),
    ),
    "user.changed": (
        RecordedField("name", _("Name"), hidden=True),
        RecordedField("is_active", _("May sign in"), ValueFormat.SWITCH),
        RecordedField("is_staff", _("Support"), ValueFormat.SWITCH),
        RecordedField("is_superuser", _("All rights"), ValueFormat.SWITCH),
        LANGUAGE,
        RecordedField("time_zone", _("Time zone")),
        RecordedField("plays_sound", _("Sound for new messages"), ValueFormat.SWITCH),
        RecordedField("groups", _("Groups of rights")),
    ),
}
