"""The content of e-mails: text and HTML from a template for each kind, and the links in them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import formataddr, make_msgid, parseaddr
from typing import Final
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.base import BaseEmailBackend
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext_lazy as _

from agency.models import Agency, Domain, Invitation, Mail, MailSettings, PendingSignUp, User
from agency.services.hosts import agency_of_host, base_url_of, hosts_of
from agency.services.mail.attachments import mail_attachments
from agency.services.mail.html import html_part, name_link
from agency.services.mail.queue import mail_settings_for
from agency.services.passwords import TokensForHost, only_agency_id_of
from config.api.text_fields import CONTROLS, ENCODED_WORD
from config.hooks import Registry

CONTINUE: Final = _("Continue")
PASSWORD: Final = _("Choose a password")
INVITATION: Final = _("Answer the invitation")
APPOINTMENT: Final = _("Open the appointment")
ABOUT_CLASSES: Final = (
    Mail.Kind.SEAT_BOOKED,
    Mail.Kind.SEAT_WAITING,
    Mail.Kind.SEAT_MOVED_UP,
    Mail.Kind.SEAT_CANCELLED,
    Mail.Kind.CLASS_CHANGED,
    Mail.Kind.CLASS_CANCELLED,
)
# The labels of the button, where there is a better one than "Continue".
BUTTONS: Final = {
    Mail.Kind.OWNER_INVITATION: PASSWORD,
    Mail.Kind.OWNERSHIP_INVITATION: INVITATION,
    Mail.Kind.MEMBER_INVITATION: INVITATION,
    Mail.Kind.WORKSPACE_INVITATION: INVITATION,
    Mail.Kind.PASSWORD_RESET: PASSWORD,
    Mail.Kind.TWO_FACTOR_CHANGED: PASSWORD,
    Mail.Kind.RECOVERY_CODE_USED: PASSWORD,
    Mail.Kind.NEW_SIGN_IN: PASSWORD,
    Mail.Kind.SIGN_UP_CONFIRMATION: _("Confirm the address"),
    Mail.Kind.DOMAIN_RECORD_MISSING: _("Open the domain's page"),
    Mail.Kind.AGENCY_MESSAGE: _("Sign in"),
    Mail.Kind.NOTIFICATION: _("Open"),
    Mail.Kind.NOTIFICATION_DIGEST: _("Notifications"),
    Mail.Kind.BOOKING_CODE: _("Type the code"),
    Mail.Kind.APPOINTMENT_BOOKED: APPOINTMENT,
    Mail.Kind.APPOINTMENT_CHANGED: APPOINTMENT,
    Mail.Kind.APPOINTMENT_CANCELLED: APPOINTMENT,
    Mail.Kind.DEPOSIT_REFUNDED: _("Choose another time"),
    **dict.fromkeys(ABOUT_CLASSES, _("Open the booking")),
    Mail.Kind.INVOICE: _("Open the invoice"),
    Mail.Kind.TEST: _("Open the e-mail settings"),
}
# The kinds that customers of workspaces get. Their templates have a folder of their own.
TO_CUSTOMERS: Final = frozenset(
    {
        Mail.Kind.BOOKING_CODE,
        Mail.Kind.APPOINTMENT_BOOKED,
        Mail.Kind.APPOINTMENT_CHANGED,
        Mail.Kind.APPOINTMENT_CANCELLED,
        Mail.Kind.DEPOSIT_REFUNDED,
        *ABOUT_CLASSES,
        Mail.Kind.INVOICE,
    }
)
HEADERS: Final = {"Auto-Submitted": "auto-generated"}


@dataclass(frozen=True, slots=True)
class Sender:
    """The sender of an e-mail; `reply_to` is empty if answers go to the sender."""

    name: str
    address: str
    reply_to: str = ""

    @property
    def header(self) -> str:
        """The header's value; a name in any script is encoded, and nothing in it makes a second header.

        Text in the name that looks encoded already is broken up, as readers would see what it encodes.
        """
        shown = CONTROLS.sub(" ", self.name).replace(ENCODED_WORD, "= ?").strip()
        return formataddr((shown, self.address))


def render_mail(
    mail: Mail, *, link: str, own: MailSettings | None = None, connection: BaseEmailBackend | None = None
) -> EmailMultiAlternatives:
    """Render an e-mail with its link, for the agency's own server or for the installation's.

    The link is stored nowhere. No subject holds text that a tenant has written.
    """
    with translation.override(language_of(mail)):
        return _write(mail, link, own, connection)


def language_of(mail: Mail) -> str:
    """Return the language of an e-mail: its reader's choice, else the agency's, else the installation's.

    A reader without an account may have a language on the page that caused the e-mail: `language` in its context.
    """
    chosen = mail.user.language if mail.user else str(mail.context.get("language", ""))
    return chosen or (mail.agency.language if mail.agency else "") or str(settings.LANGUAGE_CODE)


def template_of(kind: str, *, part: str = "") -> str:
    """Name the template of an e-mail's text, or of its subject with the part `subjects/`."""
    return f"mail/{'customers/' if kind in TO_CUSTOMERS else ''}{part}{kind}.txt"


def _write(
    mail: Mail, link: str, own: MailSettings | None, connection: BaseEmailBackend | None
) -> EmailMultiAlternatives:
    content = mail_links.get(mail.kind)
    made = content.make_context(mail) if content else {}
    context = {**mail.context, **made, "link": link, "user": mail.user, "invitation": mail.invitation}
    label = str(BUTTONS.get(Mail.Kind(mail.kind), CONTINUE))
    text = render_to_string(template_of(mail.kind), context).strip()
    subject = " ".join(render_to_string(template_of(mail.kind, part="subjects/")).split())
    sender = sender_of(mail, own=own)
    message = EmailMultiAlternatives(
        subject,
        f"{name_link(text, link, label)}\n",
        from_email=sender.header,
        to=[mail.recipient],
        reply_to=[sender.reply_to] if sender.reply_to else None,
        headers={**HEADERS, "Message-ID": make_msgid(domain=sender.address.rpartition("@")[2] or None)},
        connection=connection,
    )
    html = html_part(mail, text=text, subject=subject, link=link, label=label)
    message.attach_alternative(html, "text/html")
    files = mail_attachments.get(mail.kind)
    for file in files.make(mail) if files else ():
        message.attach(file.part())
    return message


def sender_of(mail: Mail, *, own: MailSettings | None) -> Sender:
    """Return the sender of an e-mail; only an agency's own server sends from the agency's own address."""
    name, address = parseaddr(settings.DEFAULT_FROM_EMAIL)
    if mail.agency is None:
        return Sender(name, address)
    chosen = mail_settings_for(mail)
    shown = (chosen.sender_name if chosen else "") or mail.agency.name
    if own is not None:
        return Sender(shown, own.from_address, own.reply_to)
    return Sender(shown, address, (chosen.reply_to or chosen.from_address) if chosen else "")


# A link is made when the e-mail is sent, on the agency's own host if it has one. The holder of a host's DNS may read
# what is typed there, and a person has one account at all agencies. A link that sets a password is therefore on an
# agency's host only for people who belong to that agency and to no other.


@dataclass(frozen=True, slots=True)
class MailLink:
    """How to make the path that e-mails of one kind link to; `name` is the kind.

    With `is_installations` the link is on the installation's own host, whatever the agency has. `sets_password` says
    whether a person sets their password at the path. `make_context` returns what the text shows beside the stored
    context, and is called when the e-mail is written, in its language.
    """

    name: str
    make_path: Callable[[Mail], str]
    is_installations: bool = False
    sets_password: Callable[[Mail], bool] = lambda _: False
    make_context: Callable[[Mail], Mapping[str, object]] = lambda _: {}


mail_links = Registry[MailLink](
    "links of e-mails",
    called="`link_of` and `render_mail` call those of the e-mail's kind, when the mail worker writes the e-mail",
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


def sign_up_signer() -> signing.Signer:
    """Return the signer of sign-up links.

    As with invitations, no link is stored: it names the row, and is signed when the e-mail is sent.
    """
    return signing.Signer(salt="agency.sign_up")


def waiting_sign_ups() -> "QuerySet[PendingSignUp]":
    """Return the sign-ups whose address is not looked up yet, in their order."""
    return PendingSignUp.objects.filter(is_looked_up=False).order_by("id")


def queue_confirmation(pending: PendingSignUp) -> Mail:
    """Queue the e-mail with the link that creates person and workspace."""
    return Mail.objects.create(
        kind=Mail.Kind.SIGN_UP_CONFIRMATION,
        recipient=pending.email,
        agency=pending.agency,
        context={
            "sign_up": str(pending.uuid),
            "name": pending.name,
            "agency": pending.agency.name,
            "workspace": pending.business,
        },
        created_at=Now(),
        next_attempt_at=Now(),
    )


def queue_known_address(*, user: User, agency: Agency, may_add: bool) -> Mail:
    """Queue the e-mail that says that an account exists and how to use it; with `may_add` also for a new workspace."""
    return Mail.objects.create(
        kind=Mail.Kind.SIGN_UP_KNOWN_ADDRESS,
        user=user,
        recipient=user.email,
        agency=agency,
        context={"agency": agency.name, "may_add": may_add},
        created_at=Now(),
        next_attempt_at=Now(),
    )


def pending_sign_up_of(mail: Mail) -> PendingSignUp | None:
    """Return the sign-up that an e-mail asks to confirm, while it exists."""
    return PendingSignUp.objects.filter(uuid=mail.context.get("sign_up")).first()


def pending_sign_up_of_link(token: str) -> PendingSignUp | None:
    """Return the sign-up that a link names, whatever its state; None for a made-up link."""
    try:
        uuid = UUID(sign_up_signer().unsign(token))
    except (signing.BadSignature, ValueError):
        return None
    return PendingSignUp.objects.select_related("agency").filter(uuid=uuid).first()


def confirmation_path(mail: Mail) -> str:
    """Return the path at which a sign-up is confirmed."""
    return reverse("sign-up:confirm-link", args=[sign_up_signer().sign(UUID(mail.context["sign_up"]).hex)])


def has_to_choose_a_password(mail: Mail) -> bool:
    return mail.user is not None and not mail.user.has_usable_password()


def known_address_path(mail: Mail) -> str:
    """Return where a person signs in, to add a workspace if they may, or chooses a first password."""
    if mail.user and has_to_choose_a_password(mail):
        return password_path(mail.user, host_for_password(mail))
    query = urlencode({"next": reverse("app:workspace-new")}) if mail.context["may_add"] else ""
    return f"{reverse('account:sign-in')}{query and '?'}{query}"


def confirmation_is_out_of_date(mail: Mail, now: datetime) -> bool:
    """Return whether the link of a confirmation no longer works."""
    pending = pending_sign_up_of(mail)
    return pending is None or pending.confirmed_at is not None or pending.expires_at <= now
