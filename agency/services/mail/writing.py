"""The content of e-mails: text and HTML from one template for each kind, in the agency's name and colours."""

from dataclasses import dataclass
from email.utils import formataddr, make_msgid, parseaddr
from typing import Final

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.base import BaseEmailBackend
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext_lazy as _

from agency.models import Agency, Brand, Mail, MailSettings
from agency.models.branding.brands import Picture, PictureKind
from agency.services.colours import text_on
from agency.services.domains.hosts import base_url_of
from agency.services.mail.routes import settings_of
from config.api.text_fields import CONTROLS, ENCODED_WORD

USUAL_COLOUR: Final = "#4f46e5"
LOGOS: Final[tuple[PictureKind, ...]] = ("logo", "dark_logo")
CONTINUE: Final = _("Continue")
PASSWORD: Final = _("Choose a password")
INVITATION: Final = _("Answer the invitation")
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
    Mail.Kind.TEST: _("Open the e-mail settings"),
}
HEADERS: Final = {"Auto-Submitted": "auto-generated"}


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph of an e-mail; with `is_link` it holds nothing but the link, and becomes a button."""

    text: str
    is_link: bool = False


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


def write_mail(
    mail: Mail, *, link: str, own: MailSettings | None = None, connection: BaseEmailBackend | None = None
) -> EmailMultiAlternatives:
    """Render an e-mail with its link, for the agency's own server or for the installation's.

    The link is stored nowhere. No subject holds text that a tenant has written.
    """
    with translation.override(language_of(mail)):
        return _write(mail, link, own, connection)


def language_of(mail: Mail) -> str:
    """Return the language of an e-mail: its reader's choice, else the agency's, else the installation's."""
    chosen = mail.user.language if mail.user else ""
    return chosen or (mail.agency.language if mail.agency else "") or str(settings.LANGUAGE_CODE)


def _write(
    mail: Mail, link: str, own: MailSettings | None, connection: BaseEmailBackend | None
) -> EmailMultiAlternatives:
    text = render_to_string(f"mail/{mail.kind}.txt", {**mail.context, "link": link, "user": mail.user}).strip()
    subject = " ".join(render_to_string(f"mail/subjects/{mail.kind}.txt").split())
    sender = sender_of(mail, own=own)
    message = EmailMultiAlternatives(
        subject,
        f"{text}\n",
        from_email=sender.header,
        to=[mail.recipient],
        reply_to=[sender.reply_to] if sender.reply_to else None,
        headers={**HEADERS, "Message-ID": make_msgid(domain=sender.address.rpartition("@")[2] or None)},
        connection=connection,
    )
    message.attach_alternative(_html(mail, subject, link, blocks_of(text, link)), "text/html")
    return message


def sender_of(mail: Mail, *, own: MailSettings | None) -> Sender:
    """Return the sender of an e-mail; only an agency's own server sends from the agency's own address."""
    name, address = parseaddr(settings.DEFAULT_FROM_EMAIL)
    if mail.agency is None:
        return Sender(name, address)
    chosen = settings_of(mail)
    shown = (chosen.sender_name if chosen else "") or mail.agency.name
    if own is not None:
        return Sender(shown, own.from_address, own.reply_to)
    return Sender(shown, address, (chosen.reply_to or chosen.from_address) if chosen else "")


def blocks_of(text: str, link: str) -> list[Block]:
    """Split a text at its blank lines; the paragraph that is the link alone becomes the button."""
    paragraphs = (part.strip() for part in text.replace("\r\n", "\n").split("\n\n"))
    return [Block(part, is_link=part == link) for part in paragraphs if part]


def _html(mail: Mail, subject: str, link: str, blocks: list[Block]) -> str:
    # Lists of e-mails show this beside the subject: the first paragraph after the opening one that is not the link.
    opening = next((block.text for block in blocks[1:] if not block.is_link), "")
    label = BUTTONS.get(Mail.Kind(mail.kind), CONTINUE)
    context = {"subject": subject, "opening": opening, "blocks": blocks, "link": link, "label": label}
    return render_to_string("mail/html/layout.html", {**context, **_look_of(mail)})


def _look_of(mail: Mail) -> dict[str, object]:
    if mail.agency is None:
        return {"name": "", "colour": USUAL_COLOUR, "on_colour": text_on(USUAL_COLOUR)}
    brand = getattr(mail.agency, "brand", None) or Brand(agency=mail.agency)
    colour = brand.accent or USUAL_COLOUR
    logos: dict[str, object] = {kind: _shown(brand.picture(kind), mail.agency) for kind in LOGOS}
    return {"name": mail.agency.name, "colour": colour, "on_colour": text_on(colour), **logos}


def _shown(picture: Picture | None, agency: Agency) -> dict[str, object] | None:
    """Return a picture with its address, on the agency's own host if it has one."""
    if picture is None:
        return None
    address = f"{base_url_of(agency.pk)}{reverse('brand:picture', args=[picture.digest])}"
    return {"address": address, "width": picture.width, "height": picture.height}
