"""The people who can sign in after a bootstrap: the agency's owner, its first customer, the installation's support."""

import re
import secrets
import zlib
from dataclasses import dataclass

from django.conf import settings

from agency.models import Agency, Member, User
from agency.services import add_member, record_activity
from agency.services.people.members import find_or_create_user
from config.db import name_key
from config.errors import Conflict, Invalid
from config.operations.bootstrap.actor import BOOTSTRAP

DEFAULT_AGENCY = "Demo Agency"
ADMIN = "admin@example.com"
PASSWORD_BYTES = 15


class AddressTaken(Conflict):
    """The address of the support user belongs to somebody else."""

    def __init__(self, address: str) -> None:
        super().__init__(f"{address} belongs to a person who is no superuser.")


class AddressNeeded(Invalid):
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
