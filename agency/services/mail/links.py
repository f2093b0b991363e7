"""The links in e-mails: made when the e-mail is sent, on the agency's own host if it has one.

The holder of a host's DNS may read what is typed there, and a person has one account at all agencies. A link that sets
a password is therefore on an agency's host only for people who belong to that agency and to no other.
"""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.core import signing
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from agency.models import Domain, Invitation, Mail, User
from agency.services.domains.hosts import agency_of_host, base_url_of, hosts_of
from agency.services.people.agencies import only_agency_id_of
from agency.services.people.password_tokens import TokensForHost
from config.hooks import Registry


@dataclass(frozen=True, slots=True)
class MailLink:
    """How to make the path that e-mails of one kind link to; `name` is the kind.

    With `is_installations` the link is on the installation's own host, whatever the agency has. `sets_password` says
    whether a person sets their password at the path.
    """

    name: str
    make_path: Callable[[Mail], str]
    is_installations: bool = False
    sets_password: Callable[[Mail], bool] = lambda _: False


mail_links = Registry[MailLink](
    "links of e-mails",
    called="`link_of` calls the functions of the e-mail's kind, when the mail worker writes the e-mail",
    transaction="none",
    failure="is logged, and the e-mail is given up; a fault of the database ends the run",
)


def link_of(mail: Mail) -> str:
    """Return the address that an e-mail links to."""
    own = mail_links.get(mail.kind)
    if own:
        agency_id = None if own.is_installations else mail.agency_id
        return (_base_for_password(mail) if own.sets_password(mail) else base_url_of(agency_id)) + own.make_path(mail)
    if mail.kind == Mail.Kind.TEST:
        return base_url_of(mail.agency_id) + reverse("console:mail")
    if mail.invitation:  # new people set a password there
        base = _base_while_record_is_there(mail.agency_id)
        return base + invitation_path(mail.invitation, agencys_host_in(base))
    if mail.user is None:
        return base_url_of(mail.agency_id) + "/"
    base = _base_for_password(mail)
    return base + password_path(mail.user, agencys_host_in(base))


def _base_for_password(mail: Mail) -> str:
    """Return where a person sets a password: the agency's host if it is their only agency and its record exists."""
    agency_id = mail.agency_id
    if agency_id is None or mail.user is None or only_agency_id_of(mail.user) != agency_id:
        return base_url_of(None)
    return _base_while_record_is_there(agency_id)


def _base_while_record_is_there(agency_id: int | None) -> str:
    is_failing = Domain.objects.filter(agency=agency_id, is_primary=True, failing_since__isnull=False).exists()
    return base_url_of(None if is_failing else agency_id)


def agencys_host_in(link: str) -> str:
    """Return the agency's host that a link is on; empty for the installation's."""
    host = urlsplit(link).hostname or ""
    return host if agency_of_host(host) is not None else ""


def host_for_password(mail: Mail) -> str:
    """Return the agency's host on which an e-mail's reader sets a password; empty for the installation's."""
    return agencys_host_in(_base_for_password(mail))


def password_path(user: User, host: str) -> str:
    """Return the path, valid for three days and once, at which a person sets a password, for a link on a host.

    It is valid while the host is their agency's; an empty host is the installation's.
    """
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return reverse("account:set-password", args=[uid, TokensForHost(host).make_token(user)])


def invitation_path(invitation: Invitation, host: str = "") -> str:
    """Return the path at which an invitation is answered, for a link on a host (empty: the installation's).

    It is valid while the invitation is open and the host is its agency's. Nothing of a link is stored.
    """
    return reverse("account:invitation-link", args=[_invitation_signer(host).sign(invitation.uuid.hex)])


def is_link_to(invitation: Invitation, token: str) -> bool:
    """Return whether a link's token was made for this invitation, and for a host that its agency still has."""
    hosts = ["", *hosts_of(invitation.agency_id)]
    return any(_signed_for(host, token) == invitation.uuid.hex for host in hosts)


def _signed_for(host: str, token: str) -> str | None:
    """Return what a token says if it was signed for this host, else None."""
    try:
        return _invitation_signer(host).unsign(token)
    except signing.BadSignature:
        return None


def _invitation_signer(host: str) -> signing.Signer:
    return signing.Signer(salt=f"agency.invitation.{host}")
