"""How people ask for and set passwords: with a link that only their e-mail holds."""

from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from agency.actors import Actor
from agency.models import Agency, Mail, PasswordResetRequest, User
from agency.services.activity import record_activity
from agency.services.mail.address_requests import AddressRequests
from agency.services.mail.queue import queue_mail
from agency.services.people.agencies import belongs_to
from agency.services.people.password_tokens import PASSWORD_TOKENS
from agency.services.people.sessions import end_sessions
from config.errors import Conflict


class LinkUsed(Conflict):
    message = "This link no longer works."


def request_password_reset(*, email: str, agency: Agency | None = None) -> None:
    """Queue the e-mail with a password link if there is such a person; the caller does not learn whether there is.

    The e-mail is the agency's if the person asked on its host and belongs to it, else the installation's.
    """
    user = User.objects.filter(email=email.strip().lower(), is_active=True).first()
    if user:
        agency = agency if agency and belongs_to(user, agency) else None
        queue_mail(kind=Mail.Kind.PASSWORD_RESET, user=user, context={}, agency=agency)


def ask_for_password_reset(*, email: str, agency: Agency | None = None) -> None:
    """Have the address looked up later, so that the same is done here for every address."""
    PasswordResetRequest.objects.create(email=email.strip().lower(), agency=agency)


def waiting_password_resets() -> "QuerySet[PasswordResetRequest]":
    """Return the requests for password links that were not looked up yet, in their order."""
    return PasswordResetRequest.objects.order_by("pk")


def _answer(asked: PasswordResetRequest) -> None:
    request_password_reset(email=asked.email, agency=asked.agency)
    asked.delete()


PASSWORD_RESETS: Final = AddressRequests("password reset", waiting_password_resets, _answer)


@transaction.atomic
def change_password(*, user: User, password: str, by: Actor, keep: str | None = None) -> None:
    """Replace the password of a person who has just given the old one; every session but `keep` ends."""
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    user.set_password(password)
    user.save(update_fields=["password"])
    end_sessions(user=user, keep=keep)
    record_activity(by=by, action="password.changed", agency_id=None, target=("user", user.pk, user.email))


@transaction.atomic
def set_password(*, user: User, token: str, password: str, by: Actor, keep: str | None = None) -> None:
    """Set a password with a link's token, which is then used up; every session of the person but `keep` ends.

    Two-factor stays as it is, as a link in an e-mail does not stand in for it.

    Raises `LinkUsed` for a token that is used, out of date or another person's.
    """
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if not user.is_active or not PASSWORD_TOKENS.check_token(user, token):
        raise LinkUsed
    user.set_password(password)
    user.save(update_fields=["password"])
    end_sessions(user=user, keep=keep)
    record_activity(by=by, action="password.set", agency_id=None, target=("user", user.pk, user.email))
