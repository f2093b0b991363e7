"""API keys of an agency: issued once, kept as a digest, revoked at once."""

from datetime import datetime

from django.db import transaction

from agency.actors import Actor
from agency.models import Agency, AgencyKey
from agency.services.activity import record_activity
from config.api.keys import display_prefix, key_digest, new_key
from config.errors import NotFound

AGENCY_PREFIX = "svc_ag_"


class KeyNotFound(NotFound):
    message = "API key not found."


@transaction.atomic
def issue_agency_key(*, agency: Agency, name: str, can_copy: bool, by: Actor) -> tuple[AgencyKey, str]:
    """Create a key; the second value is its plaintext, which nothing can show again."""
    plaintext = new_key(AGENCY_PREFIX)
    key = AgencyKey.objects.create(
        agency=agency,
        name=name.strip(),
        can_copy=can_copy,
        key_hash=key_digest(plaintext),
        prefix=display_prefix(plaintext),
        created_by=by.label,
    )
    record_activity(
        by=by,
        action="agency_key.created",
        agency_id=agency.id,
        target=("agency_key", key.uuid, key.name),
        details={"prefix": key.prefix, "can_copy": can_copy},
    )
    return key, plaintext


@transaction.atomic
def revoke_agency_key(*, key: AgencyKey, now: datetime, by: Actor) -> bool:
    """Revoke a key for good: the next call with it answers 401. Says whether anything changed."""
    changed = AgencyKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=now)
    if changed:
        target = ("agency_key", key.uuid, key.name)
        record_activity(by=by, action="agency_key.revoked", agency_id=key.agency_id, target=target)
    key.refresh_from_db()
    return bool(changed)
