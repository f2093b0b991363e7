"""Whether the secrets that an earlier bootstrap told still let anybody in."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.contrib.auth.hashers import check_password

from agency.models import AgencyKey, User
from config.api.keys import key_digest
from workspaces.subaccounts.models import WorkspaceKey


def without_dead_secrets(told: dict[str, Any]) -> dict[str, Any]:
    """Blank the keys that were revoked, and the passwords that were changed, since they were told."""
    passwords = [told[door] for door in ("console", "admin") if told.get(door)]
    stored = [_stored_password(door["email"]) for door in passwords]
    # Checking one takes a third of a second: together they keep a start waiting no longer than that.
    with ThreadPoolExecutor() as pool:
        fits = pool.map(lambda door, hashed: check_password(door.get("password"), hashed), passwords, stored)
    for door, fit in zip(passwords, fits, strict=True):
        door["password"] = door["password"] if fit else None
    for name in ("agency_key", "copy_key"):
        told[name] = _if_live(AgencyKey, told.get(name))
    if told.get("workspace"):
        told["workspace"]["key"] = _if_live(WorkspaceKey, told["workspace"].get("key"))
    return told


def _stored_password(email: str) -> str:
    return User.objects.filter(email=email, is_active=True).values_list("password", flat=True).first() or ""


def _if_live(keys: type[AgencyKey] | type[WorkspaceKey], plaintext: str | None) -> str | None:
    lives = plaintext and keys._default_manager.filter(key_hash=key_digest(plaintext), revoked_at=None).exists()
    return plaintext if lives else None
