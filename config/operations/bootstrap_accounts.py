"""What a bootstrap makes: the people who can sign in, the plans and add-ons, and the API keys."""

import re
import secrets
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.hashers import check_password

from agency.actors import Actor
from agency.limits import build
from agency.models import Agency, AgencyKey, Member, Plan, User
from agency.services import add_member, create_addon, create_plan, issue_agency_key, record_activity, revoke_agency_key
from agency.services.members import find_or_create_user
from config.api.keys import key_digest
from config.db import name_key
from config.errors import Conflict, InvalidInput
from workspaces.subaccounts.models import Workspace, WorkspaceKey
from workspaces.subaccounts.services import issue_workspace_key, revoke_workspace_key

# A bootstrap may replace only keys that carry this actor's name.

BOOTSTRAP = Actor(kind="system", id="", label="bootstrap")


class Offer(NamedTuple):
    name: str
    description: str
    limits: dict[str, int | None]

    def values(self) -> dict[str, Any]:
        """Return the services' arguments. A limit that is not named is 0."""
        return {"name": self.name, "description": self.description, "limits": build(self.limits, missing=0)}


PLANS = (
    Offer(
        "Starter",
        "For one location that answers its customers in one place.",
        {
            "contacts": 1_000,
            "team_members": 3,
            "broadcasts_per_month": 10,
            "channels.whatsapp": 1,
            "channels.facebook": 1,
            "channels.instagram": 1,
            "channels.livechat": 1,
        },
    ),
    Offer(
        "Growth",
        "For teams that also send broadcasts and run automations.",
        {
            "contacts": 10_000,
            "team_members": 10,
            "broadcasts_per_month": 100,
            "channels.whatsapp": 3,
            "channels.facebook": 3,
            "channels.instagram": 3,
            "channels.sms": 1,
            "channels.tiktok": 1,
            "channels.telegram": 1,
            "channels.livechat": 3,
            "channels.gbp": 3,
        },
    ),
)
ADDONS = (
    Offer("Extra WhatsApp number", "One more WhatsApp channel.", {"channels.whatsapp": 1}),
    Offer("5,000 more contacts", "Room for 5,000 more contacts.", {"contacts": 5_000}),
)


def ensure_catalogue(agency: Agency) -> None:
    """Make the usual plans if the agency has none, and the usual add-ons if it has none. Archived ones count."""
    if not agency.plans.exists():
        for offer in PLANS:
            create_plan(agency=agency, by=BOOTSTRAP, **offer.values())
    if not agency.addons.exists():
        for offer in ADDONS:
            create_addon(agency=agency, by=BOOTSTRAP, **offer.values())


def last_plan(agency: Agency) -> Plan | None:
    """Return the newest plan that can still be assigned. Of the usual ones it is the one with the most room."""
    return agency.plans.filter(archived_at=None).order_by("id").last()


def ensure_agency_key(agency: Agency, *, can_copy: bool, rotate: bool, now: datetime) -> str | None:
    """Issue the agency's key with this ability if there never was one, or again with `rotate`; else return None."""
    ours = AgencyKey.objects.filter(agency=agency, can_copy=can_copy, created_by=BOOTSTRAP.label)
    if ours.exists() and not rotate:
        return None
    for key in ours.filter(revoked_at=None):
        revoke_agency_key(key=key, now=now, by=BOOTSTRAP)
    name = "First key, may copy automations and make keys" if can_copy else "First key"
    issued = issue_agency_key(agency=agency, name=name, can_copy=can_copy, can_make_keys=can_copy, by=BOOTSTRAP)
    return issued[1]


def ensure_workspace_key(workspace: Workspace, *, rotate: bool, now: datetime) -> str | None:
    """Issue the workspace's key if there never was one, or again with `rotate`; else return None."""
    ours = WorkspaceKey.objects.filter(workspace=workspace, created_by=BOOTSTRAP.label)
    if ours.exists() and not rotate:
        return None
    for key in ours.filter(revoked_at=None):
        revoke_workspace_key(key=key, now=now, by=BOOTSTRAP)
    return issue_workspace_key(workspace=workspace, name="First key", by=BOOTSTRAP)[1]


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


DEFAULT_AGENCY = "Demo Agency"
ADMIN = "admin@example.com"
PASSWORD_BYTES = 15


class AddressTaken(Conflict):
    """The address of the support user belongs to somebody else."""

    def __init__(self, address: str) -> None:
        super().__init__(f"{address} belongs to a person who is no superuser.")


class AddressNeeded(InvalidInput):
    """Production has no well-known addresses, so an address must be given."""

    def __init__(self, option: str, whose: str) -> None:
        super().__init__(f"{option} is needed in production: the e-mail address of {whose}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """Where and as whom to sign in. The password is there only if this run has set it."""

    url: str
    email: str
    password: str | None

    def as_json(self) -> dict[str, str | None]:
        return {"url": self.url, "email": self.email, "password": self.password}


def example_address(role: str, agency_name: str) -> str:
    """Return the address of a person whom a bootstrap makes to try the system. Each agency name has a different one."""
    key = name_key(agency_name)
    if key == name_key(DEFAULT_AGENCY):
        return f"{role}@example.com"
    slug = re.sub(r"[^a-z0-9]+", "-", key).strip("-")[:30].strip("-")
    return f"{role}-{slug or 'agency'}-{zlib.crc32(key.encode()):08x}@example.com"


def ensure_owner(agency: Agency, *, given: str | None, rotate: bool) -> SignIn:
    """Make an owner if the agency has none. `rotate` affects only an owner made here, or one named by `given`.

    Raises `AddressNeeded` in production, where nobody reads the mail of an example.
    """
    address = given or example_address("owner", agency.name)
    owners = Member.objects.filter(agency=agency, role=Member.Role.OWNER).select_related("user")
    owner = owners.filter(user__email=address).first() or owners.order_by("id").first()
    password = None
    if owner is None and given is None:
        _refuse_examples("--owner-email", "the agency's owner")
    if owner is None or (rotate and owner.user.email == address):
        user, password = _sign_in_as(address, f"Owner of {agency.name}"[:120], agency, rotate=rotate)
        owner = owner or add_member(agency=agency, email=address, name=user.name, role=Member.Role.OWNER, by=BOOTSTRAP)
    return SignIn(url=f"{settings.PUBLIC_URL}/console/", email=owner.user.email, password=password)


def ensure_customer(agency: Agency, *, rotate: bool) -> tuple[User, str | None]:
    """Make the person who owns the demo workspace."""
    return _sign_in_as(example_address("customer", agency.name), "Customer", agency, rotate=rotate)


def ensure_admin(*, given: str | None, rotate: bool) -> SignIn:
    """Make the installation's support user, once. Raises `AddressTaken` if the address belongs to somebody else.

    Raises `AddressNeeded` in production, where a well-known address would be half of a log-in.
    """
    if given is None:
        _refuse_examples("--admin-email", "who runs the installation")
    address = given or ADMIN
    if User.objects.filter(email=address, is_superuser=False).exists():
        raise AddressTaken(address)
    user, password = _sign_in_as(address, "Support", None, rotate=rotate)
    if not user.is_superuser:
        user.is_staff = user.is_superuser = True
        user.save(update_fields=["is_staff", "is_superuser"])
    return SignIn(url=f"{settings.PUBLIC_URL}/admin/", email=address, password=password)


def _refuse_examples(option: str, whose: str) -> None:
    if settings.PRODUCTION:
        raise AddressNeeded(option, whose)


def _sign_in_as(address: str, name: str, agency: Agency | None, *, rotate: bool) -> tuple[User, str | None]:
    """Find or make the person. A password is set and returned for a new person, or for any with `rotate`."""
    user, is_new = find_or_create_user(email=address, name=name)
    if not (is_new or rotate):
        return user, None
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    user.set_password(password)
    user.save(update_fields=["password"])
    _record_password(user, agency)
    return user, password


def _record_password(user: User, agency: Agency | None) -> None:
    record_activity(
        by=BOOTSTRAP,
        action="password.set",
        agency_id=agency.id if agency else None,
        target=("user", user.pk, user.email),
    )
