"""Checks whether the secrets that an earlier bootstrap showed still work."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.contrib.auth.hashers import check_password

from agency.models import AgencyKey, User
from config.api.keys import key_digest
from workspaces.subaccounts.models import WorkspaceKey


def without_revoked_secrets(shown: dict[str, Any]) -> dict[str, Any]:
    """Blank the keys that were revoked and the passwords that were changed since they were shown."""
    accounts = [shown[name] for name in ("console", "admin", "customer") if shown.get(name)]
    stored = [_stored_password(account["email"]) for account in accounts]
    # Checking one password takes a third of a second. Together, all of them delay a start no longer than that.
    with ThreadPoolExecutor() as pool:
        fits = pool.map(lambda account, hashed: check_password(account.get("password"), hashed), accounts, stored)
    for account, fit in zip(accounts, fits, strict=True):
        account["password"] = account["password"] if fit else None
    for name in ("agency_key", "copy_key"):
        shown[name] = _if_live(AgencyKey, shown.get(name))
    if shown.get("workspace"):
        shown["workspace"]["key"] = _if_live(WorkspaceKey, shown["workspace"].get("key"))
    return shown


def _stored_password(email: str) -> str:
    return User.objects.filter(email=email, is_active=True).values_list("password", flat=True).first() or ""


def _if_live(keys: type[AgencyKey] | type[WorkspaceKey], plaintext: str | None) -> str | None:
    lives = plaintext and keys.objects.filter(key_hash=key_digest(plaintext)).live().exists()
    return plaintext if lives else None
