"""How people get and set their passwords: by a link that only their e-mail holds."""

from functools import partial
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
from config.tries.counting import begin_next, run_begun

KIND: Final = "password reset"


class LinkUsed(Conflict):
    message = "This link no longer works."


def request_password_reset(*, email: str, agency: Agency | None = None) -> None:
    """Queue the e-mail with a link to set a password, if there is such a person; nothing shows whether there is.

    It is the agency's where the person asked on its host and belongs to it, else the installation's.
    """
    user = User.objects.filter(email=email.strip().lower(), is_active=True).first()
    if user:
        agency = agency if agency and belongs_to(user, agency) else None
        queue_mail(kind=Mail.Kind.PASSWORD_RESET, user=user, context={}, agency=agency)


def ask_for_password_reset(*, email: str, agency: Agency | None = None) -> None:
    """Have it looked up later whose address this is: what is done here is the same for everybody's and nobody's."""
    PasswordResetRequest.objects.create(email=email.strip().lower(), agency=agency)


def waiting_password_resets() -> "QuerySet[PasswordResetRequest]":
    """Give the links to set a password that were asked for and not looked at, in their order."""
    return PasswordResetRequest.objects.order_by("pk")


def answer_next_password_reset() -> bool:
    """Look up the address that was asked for first, and queue the e-mail; False where none is."""
    return waiting_password_resets().exists() and _answer_next()


def _answer_next() -> bool:
    begun = begin_next(_locked_requests(), kind=KIND)
    if begun is None:
        return False
    pk = begun[0].pk
    return run_begun(begun[1], partial(_answer, pk), give_up=partial(_leave_out, pk), counts_faults=True)


def _locked_requests() -> "QuerySet[PasswordResetRequest]":
    return waiting_password_resets().select_for_update(skip_locked=True, of=("self",)).select_related("agency")


@transaction.atomic
def _answer(pk: int) -> bool:
    asked = _locked_requests().filter(pk=pk).first()
    if asked is not None:
        request_password_reset(email=asked.email, agency=asked.agency)
        asked.delete()
    return True


def _leave_out(pk: int) -> bool:
    """Forget that somebody asked, as looking up their address killed the process too often: they may ask again."""
    PasswordResetRequest.objects.filter(pk=pk).delete()
    return True


PASSWORD_RESETS = AddressRequests("password resets", answer_next_password_reset)


@transaction.atomic
def change_password(*, user: User, password: str, by: Actor, keep: str | None = None) -> None:
    """Replace the password of somebody who has just given the old one; every session but `keep` ends."""
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    user.set_password(password)
    user.save(update_fields=["password"])
    end_sessions(user=user, keep=keep)
    record_activity(by=by, action="password.changed", agency_id=None, target=("user", user.pk, user.email))


@transaction.atomic
def set_password(*, user: User, token: str, password: str, by: Actor, keep: str | None = None) -> None:
    """Set a password with a link's token, which thereby is used up; every session of the person but `keep` ends.

    Two-factor stays as it is: a link in an e-mail does not stand in for it.

    Raises `LinkUsed` for a token that is used, out of date or somebody else's.
    """
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if not user.is_active or not PASSWORD_TOKENS.check_token(user, token):
        raise LinkUsed
    user.set_password(password)
    user.save(update_fields=["password"])
    end_sessions(user=user, keep=keep)
    record_activity(by=by, action="password.set", agency_id=None, target=("user", user.pk, user.email))
