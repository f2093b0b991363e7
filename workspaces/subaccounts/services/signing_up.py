"""Customers who sign up by themselves: the request, its confirmation by e-mail, and further workspaces."""

import uuid
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from django.contrib.auth.hashers import check_password, make_password
from django.db import IntegrityError, transaction

from agency.actors import Actor
from agency.models import Agency, PendingSignUp, SignUpSettings, User
from agency.services import open_sign_up_of, record_activity, sign_up_settings_of
from agency.services.agencies import require_no_web_addresses
from agency.services.mail.content import queue_confirmation, queue_known_address, waiting_sign_ups
from agency.services.passwords import AddressRequests
from config.errors import Conflict, Forbidden, InvalidInput, NotFound
from workspaces.subaccounts.models import Workspace
from workspaces.subaccounts.services.workspaces import (
    SubAccountLimitReached,
    create_workspace,
    is_below_sub_account_limit,
)

# An unused link creates nothing.
CONFIRMED_WITHIN = timedelta(hours=24)
# Keeps one person from filling an agency that has no limit.
MOST_WORKSPACES_OF_PERSON = 50


class SignUpIsOff(NotFound):
    message = "Nobody can sign up here at the moment."


class SignUpEnded(Conflict):
    message = "This link no longer works."


class SignUpConfirmed(Conflict):
    message = "This address is confirmed already."


class EmailAlreadyRegistered(Conflict):
    message = "There is an account with this address."


class WrongPassword(InvalidInput):
    field = "password"
    message = "This is not the password with which you signed up."


class NoFurtherWorkspaces(Forbidden):
    message = "No more workspaces can be added at the moment."


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBusiness:
    """A customer's description of a new workspace. `business_type` may be empty."""

    name: str
    business_type: str
    timezone: str


def request_sign_up(
    *, agency: Agency, name: str, email: str, password: str, business: NewBusiness, now: datetime
) -> uuid.UUID:
    """Store a sign-up until its address is confirmed. Creates nothing else. Gives the sign-up's uuid.

    This function does the same for every address. The mail worker looks the address up later: it sends the link, or
    another e-mail if the address has an account. Raises `SignUpIsOff`, `SubAccountLimitReached` and, for names that
    contain a web address, `InvalidInput`.
    """
    require_no_web_addresses(name=name, business=business.name)
    settings = _open_sign_up(agency)
    pending = PendingSignUp.objects.create(
        agency=agency,
        email=email,
        name=name,
        password=make_password(password),
        business=business.name,
        business_type=business.business_type,
        timezone=business.timezone,
        terms_url=settings.terms_url,
        privacy_url=settings.privacy_url,
        created_at=now,
        expires_at=now + CONFIRMED_WITHIN,
    )
    return pending.uuid


def _send_answer(pending: PendingSignUp) -> None:
    known = User.objects.filter(email=pending.email).first()
    if known is None:
        pending.is_looked_up = True
        pending.save(update_fields=["is_looked_up"])
        queue_confirmation(pending)
        return
    if known.is_active:
        may_add = may_add_workspace(user=known, agency=pending.agency)
        queue_known_address(user=known, agency=pending.agency, may_add=may_add)
    pending.delete()


SIGN_UPS: Final = AddressRequests("sign-up", waiting_sign_ups, _send_answer)


def check_sign_up_password(*, sign_up: PendingSignUp, password: str) -> None:
    """Check the password of the sign-up in another browser. Raises `WrongPassword`.

    Without this check, a person could sign up with someone else's address, and the address's owner would confirm the
    stranger's password.
    """
    if not check_password(password, sign_up.password):
        raise WrongPassword


def check_sign_up(*, sign_up: PendingSignUp, now: datetime) -> None:
    """Check whether a sign-up can be confirmed. Changes nothing.

    Raises `SignUpConfirmed`, `SignUpEnded`, `SignUpIsOff`, `SubAccountLimitReached`, `EmailAlreadyRegistered`.
    """
    if sign_up.confirmed_at:
        raise SignUpConfirmed
    if sign_up.expires_at <= now:
        raise SignUpEnded
    if User.objects.filter(email=sign_up.email).exists():
        # A simultaneous click may have created this person since the row was read.
        confirmed = PendingSignUp.objects.filter(pk=sign_up.pk, confirmed_at__isnull=False).exists()
        raise SignUpConfirmed if confirmed else EmailAlreadyRegistered
    _open_sign_up(sign_up.agency)


@transaction.atomic
def confirm_sign_up(*, sign_up: PendingSignUp, now: datetime, by: Actor) -> Workspace:
    """Create the person and the workspace of a sign-up once, in one transaction.

    Raises the errors of `check_sign_up`, which runs again because things may have changed since the page was shown.
    """
    locked = PendingSignUp.objects.select_for_update(of=("self",)).select_related("agency")
    found = locked.filter(pk=sign_up.pk).first()
    if found is None:
        raise SignUpEnded
    check_sign_up(sign_up=found, now=now)
    user = _make_person(found)
    by = replace(by, id=str(user.pk))
    workspace = create_workspace(
        agency=found.agency,
        name=found.business,
        owner_name=found.name,
        owner_email=found.email,
        business_type=found.business_type or None,
        timezone=found.timezone,
        ask_owner=False,
        now=now,
        by=by,
    )
    found.confirmed_at, found.password = now, ""
    found.save(update_fields=["confirmed_at", "password"])
    record_activity(
        by=by,
        action="sign_up.confirmed",
        agency_id=workspace.agency_id,
        workspace_uuid=workspace.uuid,
        target=("workspace", workspace.uuid, workspace.name),
        details={field: link for field in ("terms_url", "privacy_url") if (link := getattr(found, field))},
    )
    return workspace


def may_add_workspace(*, user: User, agency: Agency) -> bool:
    """Say whether this person may add a first or a further workspace at the agency.

    A customer may if the agency allows further workspaces and one of theirs is active. Anyone else may if sign-up is
    open and they have not left a suspended workspace. This keeps people from evading a suspension.
    """
    own = Workspace.objects.of(agency).of_person(user)
    if not own.exists():
        left = Workspace.objects.of(agency).filter(owner=user, status=Workspace.Status.SUSPENDED)
        return open_sign_up_of(agency) is not None and not left.exists()
    settings = sign_up_settings_of(agency)
    is_open = settings.allows_further_workspaces and agency.is_active
    return bool(is_open and own.filter(status=Workspace.Status.ACTIVE).exists())


@transaction.atomic
def add_workspace(*, agency: Agency, user: User, business: NewBusiness, now: datetime, by: Actor) -> Workspace:
    """Create a workspace for a person who has signed in, with the agency's default plan.

    The person's first workspace at this agency counts as a sign-up and has an event; a further one has none. Raises
    `NoFurtherWorkspaces` and `SubAccountLimitReached`.
    """
    User.objects.select_for_update(no_key=True).only("pk").get(pk=user.pk)
    own = Workspace.objects.of(agency).of_person(user).count()
    if own >= MOST_WORKSPACES_OF_PERSON or not may_add_workspace(user=user, agency=agency):
        raise NoFurtherWorkspaces
    return create_workspace(
        agency=agency,
        name=business.name,
        owner_name=user.name or user.email,
        owner_email=user.email,
        business_type=business.business_type or None,
        timezone=business.timezone,
        ask_owner=False,
        is_announced=own == 0,
        now=now,
        by=by,
    )


def _open_sign_up(agency: Agency) -> SignUpSettings:
    settings = open_sign_up_of(agency)
    if settings is None:
        raise SignUpIsOff
    if not is_below_sub_account_limit(agency):
        raise SubAccountLimitReached
    return settings


def _make_person(sign_up: PendingSignUp) -> User:
    """Create the person. Raises `EmailAlreadyRegistered` if the address got an account in this moment."""
    user = User(email=sign_up.email, name=sign_up.name, password=sign_up.password)
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError as error:
        raise EmailAlreadyRegistered from error
    return user
