"""API keys of an agency: issued once, kept as a digest, rolled, revoked and authenticated."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar, Unpack
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from agency.actors import Actor
from agency.models import Agency, AgencyKey
from agency.models.agencies import APIKey
from agency.services.activity import record_activity
from config.api.keys import IS_USABLE, display_prefix, key_digest, new_key
from config.api.requests import Address
from config.db import dictfetchall
from config.errors import Conflict, InvalidInput, NotFound

AGENCY_PREFIX = "svc_ag_"
# No system of today is planned for longer, and the calendar ends in the year 9999.
LONGEST_LIFE = timedelta(days=3_660)
LONGEST_OVERLAP = timedelta(days=7)
# How far a caller's clock may be behind ours when it says "now".
CLOCK_DIFFERENCE = timedelta(minutes=1)
KeyOf = TypeVar("KeyOf", bound=APIKey)


class KeyNotFound(NotFound):
    message = "API key not found."


class KeyRolledAlready(Conflict):
    message = "This API key was rolled already."


class ExpiryRefused(InvalidInput):
    message = "An API key expires in the future, at most ten years ahead."
    field = "expires_at"


class OverlapRefused(InvalidInput):
    message = "The old API key may stay valid for at most 7 days from now."
    field = "old_valid_until"


class KeyLimits(TypedDict, total=False):
    """The end of a key's life and its allowed networks; without them it works for good and from anywhere."""

    expires_at: datetime | None
    allowed_networks: Iterable[str] | None


class RolledKey(NamedTuple, Generic[KeyOf]):
    """The new key, its plaintext, and when the old key ends."""

    key: KeyOf
    plaintext: str
    old_valid_until: datetime


def new_key_values(*, prefix: str, name: str, by: Actor, **limits: Unpack[KeyLimits]) -> tuple[dict[str, Any], str]:
    """Return the columns of a new key, and its plaintext. Raises `ExpiryRefused`."""
    expires_at, now = limits.get("expires_at"), timezone.now()
    if expires_at is not None and not now < expires_at <= now + LONGEST_LIFE:
        raise ExpiryRefused
    plaintext = new_key(prefix)
    values = {
        "name": name.strip(),
        "key_hash": key_digest(plaintext),
        "prefix": display_prefix(plaintext),
        "created_by": by.label,
        "created_at": now,
        "expires_at": expires_at,
        "allowed_networks": list(dict.fromkeys(limits.get("allowed_networks") or ())),
    }
    return values, plaintext


def recorded_limits(key: APIKey) -> dict[str, object]:
    """Return what the activity log keeps of a new key besides its prefix."""
    limits: dict[str, object] = {}
    if key.expires_at:
        limits["expires_at"] = key.expires_at.isoformat()
    if key.allowed_networks:
        limits["allowed_networks"] = key.allowed_networks
    return limits


def begin_roll(key: KeyOf, *, old_valid_until: datetime | None, now: datetime) -> KeyOf:
    """Lock a key that is about to be rolled. Raises `KeyNotFound`, `KeyRolledAlready` and `OverlapRefused`."""
    if old_valid_until is not None and not -CLOCK_DIFFERENCE <= old_valid_until - now <= LONGEST_OVERLAP:
        raise OverlapRefused
    keys: Any = type(key)._default_manager
    locked: KeyOf | None = keys.select_for_update(no_key=True).filter(pk=key.pk).live().first()
    if locked is None:
        raise KeyNotFound
    if locked.replaced_by is not None:
        raise KeyRolledAlready
    return locked


def limits_of_next(old: APIKey, *, now: datetime) -> KeyLimits:
    """Return the limits of the key that replaces this one: the same networks, and a life of the same length."""
    life = old.expires_at and old.expires_at - old.created_at
    return {"expires_at": now + life if life else None, "allowed_networks": old.allowed_networks}


def end_roll(old: APIKey, new: APIKey, *, old_valid_until: datetime | None, now: datetime) -> datetime:
    """End the old key at this time or now, and its predecessor at once; return when the old key ends."""
    keys: Any = type(old)._default_manager
    keys.filter(replaced_by=old, revoked_at=None).update(revoked_at=now)
    ends_now = old_valid_until is None or old_valid_until <= now
    ends_at = now if old_valid_until is None or ends_now else old_valid_until
    if old.expires_at is not None:
        ends_at = min(ends_at, old.expires_at)
    changes = {"revoked_at": now} if ends_now else {"expires_at": ends_at}
    keys.filter(pk=old.pk).update(replaced_by=new, **changes)
    return ends_at


@transaction.atomic
def issue_agency_key(
    *, agency: Agency, name: str, can_copy: bool, by: Actor, can_make_keys: bool = False, **limits: Unpack[KeyLimits]
) -> tuple[AgencyKey, str]:
    """Create a key; the second value is its plaintext, which nothing can show again. Raises `ExpiryRefused`."""
    values, plaintext = new_key_values(prefix=AGENCY_PREFIX, name=name, by=by, **limits)
    key = AgencyKey.objects.create(agency=agency, can_copy=can_copy, can_make_keys=can_make_keys, **values)
    abilities = {"can_copy": can_copy, **({"can_make_keys": True} if can_make_keys else {})}
    _record(key, "agency_key.created", by, {"prefix": key.prefix, **abilities, **recorded_limits(key)})
    return key, plaintext


@transaction.atomic
def roll_agency_key(
    *, key: AgencyKey, old_valid_until: datetime | None, now: datetime, by: Actor
) -> RolledKey[AgencyKey]:
    """Replace a key by a new key with the same rights; the old key ends at this time, or now.

    Raises `KeyNotFound`, `KeyRolledAlready` and `OverlapRefused`.
    """
    old = begin_roll(key, old_valid_until=old_valid_until, now=now)
    values, plaintext = new_key_values(prefix=AGENCY_PREFIX, name=old.name, by=by, **limits_of_next(old, now=now))
    new = AgencyKey.objects.create(
        agency_id=old.agency_id, can_copy=old.can_copy, can_make_keys=old.can_make_keys, **values
    )
    ends_at = end_roll(old, new, old_valid_until=old_valid_until, now=now)
    details = {"prefix": new.prefix, "old_prefix": old.prefix, "old_valid_until": ends_at.isoformat()}
    _record(new, "agency_key.rolled", by, details)
    return RolledKey(new, plaintext, ends_at)


@transaction.atomic
def revoke_agency_key(*, key: AgencyKey, now: datetime, by: Actor) -> bool:
    """Revoke a key for good: the next call with it answers 401. Returns whether anything changed."""
    changed = AgencyKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=now)
    if changed:
        _record(key, "agency_key.revoked", by)
    key.refresh_from_db()
    return bool(changed)


def _record(key: AgencyKey, action: str, by: Actor, details: Mapping[str, object] | None = None) -> None:
    target = ("agency_key", key.uuid, key.name)
    record_activity(by=by, action=action, agency_id=key.agency_id, target=target, details=details)


# A key that was used within the same second is stamped already, and its row is left unchanged.
FIND = f"""
WITH stamped AS (
    UPDATE agency_agencykey key SET last_used_at = date_trunc('second', statement_timestamp())
    WHERE {IS_USABLE}
        AND (last_used_at IS NULL OR last_used_at < date_trunc('second', statement_timestamp()))
)
SELECT key.id AS key_id, key.uuid AS key_uuid, key.name AS key_name, key.can_copy, key.can_make_keys,
    agency.id, agency.uuid, agency.name, agency.status, agency.sub_account_count,
    coalesce((SELECT enabled FROM agency_switch WHERE name = 'agency_api'), TRUE) AS surface_is_on
FROM agency_agencykey key JOIN agency_agency agency ON agency.id = key.agency_id
WHERE {IS_USABLE}
"""  # noqa: S608  # texts of our own
AGENCY_FIELDS = ("id", "uuid", "name", "status", "sub_account_count")


@dataclass(frozen=True, slots=True)
class AgencyCaller:
    """The holder of a live agency key. `agency` has id, uuid, name, status and sub_account_count only."""

    key_id: int
    key_uuid: UUID
    key_name: str
    can_copy: bool
    can_make_keys: bool
    agency: Agency
    surface_is_on: bool


def authenticate_agency_key(digest: bytes, *, address: Address | None) -> AgencyCaller | None:
    """Return the holder of the key with this SHA-256, and stamp the key's use, to the second.

    None for a key that is unknown, revoked, expired by the database's clock, or not allowed from this network address.
    """
    with connection.cursor() as cursor:
        cursor.execute(FIND, {"digest": digest, "address": None if address is None else str(address)})
        rows = dictfetchall(cursor)
    if not rows:
        return None
    row = rows[0]
    agency = Agency(**{field: row.pop(field) for field in AGENCY_FIELDS})
    return AgencyCaller(agency=agency, **row)
