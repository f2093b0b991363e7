"""How people ask for and set passwords, what their links are valid for, and the end of their sessions."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.db import transaction
from django.db.models import Model, QuerySet

from agency.actors import Actor
from agency.models import Agency, Mail, Member, PasswordResetRequest, PushSubscription, User, UserSession
from agency.services.activity import record_activity
from agency.services.hosts import hosts_of
from agency.services.mail.queue import queue_mail
from agency.services.notifications.push_queue import delete_devices
from config.errors import Conflict
from config.hooks import Registry
from config.tries.counting import begin_next, run_begun


@dataclass(frozen=True, slots=True)
class MembershipSource:
    """Something that makes people belong to agencies: `agency_ids` returns the agencies of one person.

    An invitation that is not accepted counts only for people who have no password yet, so that no agency makes people
    its own by inviting them.
    """

    name: str
    agency_ids: Callable[[User], Iterable[int]]


membership_sources = Registry[MembershipSource](
    "ways to belong to an agency",
    called="`agency_ids_of` calls each, wherever the agencies of a person decide",
    transaction="the caller's, if there is one",
    failure="reaches the caller",
)
membership_sources.add(
    MembershipSource(
        "team", lambda user: Member.objects.filter(user=user).values_list("agency_id", flat=True).distinct()
    )
)


def agency_ids_of(user: User) -> set[int]:
    """Return the ids of the agencies that a person works at, or is a customer of."""
    return {pk for way in membership_sources for pk in way.agency_ids(user)}


def belongs_to(user: User, agency: Agency) -> bool:
    return agency.pk in agency_ids_of(user)


def only_agency_id_of(user: User) -> int | None:
    """Return the id of a person's only agency; None if they have several or none, and for support staff."""
    if user.is_staff:
        return None
    found = agency_ids_of(user)
    return found.pop() if len(found) == 1 else None


def only_agency_of(user: User) -> Agency | None:
    """Return a person's only agency, in whose name support writes to them; None for the installation's name."""
    found = only_agency_id_of(user)
    return None if found is None else Agency.objects.get(pk=found)


# A token in a link that sets a password is valid for the link's host, while that is its agency's. The next holder of
# an agency's host may read what browsers request there. A token that they read is worth nothing.


class TokensForHost(PasswordResetTokenGenerator):
    """Makes and checks the tokens of links on one host; an empty host is the installation's."""

    def __init__(self, host: str) -> None:
        super().__init__()
        if host:
            self.key_salt = f"{PasswordResetTokenGenerator.key_salt}.{host}"


class PasswordTokens(PasswordResetTokenGenerator):
    """Checks tokens of links on the installation's host, and on the hosts of the person's only agency."""

    def check_token(self, user: Any, token: str | None) -> bool:
        if user is None or super().check_token(user, token):
            return user is not None
        return any(TokensForHost(host).check_token(user, token) for host in hosts_of_person(user))


def hosts_of_person(user: User) -> list[str]:
    """Return the hosts on which a person may set a password, besides the installation's."""
    agency_id = only_agency_id_of(user)
    return [] if agency_id is None else hosts_of(agency_id)


PASSWORD_TOKENS: Final = PasswordTokens()


def end_sessions(*, user: User, keep: str | None = None) -> int:
    """End every session of a person but the one with the key `keep`; return how many ended."""
    delete_devices(PushSubscription.objects.filter(user=user).exclude(session_key=keep or ""))
    ended, _ = UserSession.objects.filter(user=user).exclude(session_key=keep or "").delete()
    return ended


@transaction.atomic
def end_other_sessions(*, user: User, keep: str, by: Actor) -> int:
    """Sign a person out everywhere but where they ask for it; return how many sessions ended."""
    ended = end_sessions(user=user, keep=keep)
    if ended:
        _record(user, by, ended)
    return ended


@transaction.atomic
def end_session(*, user: User, key: str, by: Actor) -> bool:
    """Sign a person out of one browser; return False if that session has ended already."""
    delete_devices(PushSubscription.objects.filter(user=user, session_key=key))
    ended, _ = UserSession.objects.filter(user=user, session_key=key).delete()
    if ended:
        _record(user, by, ended)
    return bool(ended)


def _record(user: User, by: Actor, number: int) -> None:
    target = ("user", user.pk, user.email)
    record_activity(by=by, action="session.ended", agency_id=None, target=target, details={"number": number})


# Some pages take a typed e-mail address. Such a page only keeps a row, and the mail worker looks up whose address it
# is. The page therefore does the same for every address, and nobody learns from it who has an account.


@dataclass(frozen=True, slots=True)
class AddressRequests:
    """Requests of one kind; its name is also that of their tries in `config.tries`.

    `waiting` returns their rows in order, each with an `agency`. `answer` takes a locked row, looks up its address,
    queues the e-mail and ends the row's wait.
    """

    name: str
    waiting: Callable[[], QuerySet[Model]]
    answer: Callable[[Any], None]


address_requests = Registry[AddressRequests](
    "requests by address",
    called="`answer_address_requests` calls `answer` for each waiting row; the mail worker calls it between e-mails",
    transaction="its own, one for each row",
    failure="rolls the row back and ends the run; after five tries the row is deleted",
)


def answer_address_requests() -> None:
    """Look up every waiting address, and queue the e-mails."""
    for requests in address_requests:
        while answer_next_request(requests):
            pass


def answer_next_request(requests: AddressRequests) -> bool:
    """Answer the request that has waited longest; return False if there is none."""
    if not requests.waiting().exists():
        return False
    begun = begin_next(_locked(requests), kind=requests.name)
    if begun is None:
        return False
    row, begun_try = begun
    answer, leave_out = partial(_answer_request, requests, row.pk), partial(_leave_out, requests, row.pk)
    return run_begun(begun_try, answer, give_up=leave_out, counts_faults=True)


def _locked(requests: AddressRequests) -> QuerySet[Model]:
    return requests.waiting().select_for_update(skip_locked=True, of=("self",)).select_related("agency")


@transaction.atomic
def _answer_request(requests: AddressRequests, pk: int) -> bool:
    asked = _locked(requests).filter(pk=pk).first()
    if asked is not None:
        requests.answer(asked)
    return True


def _leave_out(requests: AddressRequests, pk: int) -> bool:
    """Delete a request whose look-up killed the process too often; the person may ask again."""
    requests.waiting().filter(pk=pk).delete()
    return True


class LinkUsed(Conflict):
    message = "This link no longer works."


def queue_password_reset_mail(*, email: str, agency: Agency | None = None) -> None:
    """Queue the e-mail with a password link if there is such a person; the caller does not learn whether there is.

    The e-mail is the agency's if the person asked on its host and belongs to it, else the installation's.
    """
    user = User.objects.filter(email=email.strip().lower(), is_active=True).first()
    if user:
        agency = agency if agency and belongs_to(user, agency) else None
        queue_mail(kind=Mail.Kind.PASSWORD_RESET, user=user, context={}, agency=agency)


def queue_password_reset_request(*, email: str, agency: Agency | None = None) -> None:
    """Have the address looked up later, so that the same is done here for every address."""
    PasswordResetRequest.objects.create(email=email.strip().lower(), agency=agency)


def waiting_password_resets() -> "QuerySet[PasswordResetRequest]":
    """Return the requests for password links that were not looked up yet, in their order."""
    return PasswordResetRequest.objects.order_by("pk")


def _answer_password_reset(asked: PasswordResetRequest) -> None:
    queue_password_reset_mail(email=asked.email, agency=asked.agency)
    asked.delete()


PASSWORD_RESETS: Final = AddressRequests("password reset", waiting_password_resets, _answer_password_reset)


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
